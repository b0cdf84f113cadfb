// Rolls of @dice-roller/rpg-dice-roller: one request as JSON on standard input, one answer. As d20_rolls.py.
import { readFileSync } from 'node:fs';
import { DiceRoll, Dice, Modifiers, NumberGenerator, Results } from '@dice-roller/rpg-dice-roller';

class More extends Error {
  constructor(sides) {
    super('more');
    this.sides = sides;
    this.again = modifier !== '';
  }
}

let source;
let draws = [];
let modifier = '';
let read = null; // the roll that was looked at last: what is rolled next follows it

// Chance: a face of so many sides for whatever the dice ask for.
NumberGenerator.generator.integer = (min, max) => {
  const sides = max - min + 1;
  const again = modifier !== '';
  const face = source(sides);
  draws.push({ sides, face, of: again ? read.draw : null, why: !again ? 'ROLL' : modifier === 'explode' ? 'EXPLODE' : 'REROLL' });
  if (again && modifier !== 'explode') read.draw = draws.length - 1;
  return min + face - 1;
};

for (const kind of [Dice.StandardDice, Dice.FudgeDice]) {
  const own = kind.prototype.rollOnce;
  kind.prototype.rollOnce = function rollOnce() {
    const result = own.call(this);
    result.draw = draws.length - 1;
    return result;
  };
}

const value = Object.getOwnPropertyDescriptor(Results.RollResult.prototype, 'value');
Object.defineProperty(Results.RollResult.prototype, 'value', {
  ...value,
  get() {
    read = this;
    return value.get.call(this);
  },
});

for (const kind of [Modifiers.ExplodeModifier, Modifiers.ReRollModifier, Modifiers.UniqueModifier]) {
  const own = kind.prototype.run;
  kind.prototype.run = function run(...args) {
    modifier = this.name;
    try {
      return own.apply(this, args);
    } finally {
      modifier = '';
    }
  };
}

function* dice(result, standing) {
  if (result instanceof Results.RollResults) {
    for (const roll of result.rolls) yield [roll.value, standing && roll.useInTotal];
  } else if (result instanceof Results.ResultGroup) {
    for (const each of result.results) yield* dice(each, standing && result.useInTotal);
  }
}

function roll(text, from) {
  source = from;
  draws = [];
  modifier = '';
  const result = new DiceRoll(text);
  const { total } = result;
  const all = result.rolls.flatMap((each) => [...dice(each, true)]);
  const sorted = (wanted) => all.filter(([, standing]) => standing === wanted).map(([shown]) => shown).sort((a, b) => a - b);
  return { total, exact: total, draws, kept: sorted(true), dropped: sorted(false) };
}

// Any generator will do: what it gave is told.
function generator(seed) {
  let state = (seed + 1) * 2654435761 >>> 0;
  return (sides) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides) + 1;
  };
}

function given(text, faces) {
  const left = [...faces];
  const found = roll(text, (sides) => {
    if (!left.length) throw new More(sides);
    return left.shift();
  });
  if (left.length) throw new Error('faces left');
  return found;
}

function walked(text, depth, most) {
  const found = new Map();
  const cut = new Map();
  const count = (counts, ways) => counts.set(ways, (counts.get(ways) ?? 0) + 1);
  const stack = [[[], 1, 0]];
  let left = most;
  while (stack.length) {
    left -= 1;
    if (left < 0) return null;
    const [faces, ways, chain] = stack.pop();
    try {
      const { total } = given(text, faces);
      if (!found.has(total)) found.set(total, new Map());
      count(found.get(total), ways);
    } catch (error) {
      if (!(error instanceof More)) throw error;
      const { again } = error;
      if (again && chain === depth) {
        count(cut, ways);
        continue;
      }
      for (let face = 1; face <= error.sides; face += 1) {
        stack.push([[...faces, face], ways * error.sides, chain + (again ? 1 : 0)]);
      }
    }
  }
  return { totals: [...found].map(([total, counts]) => [total, [...counts]]), cut: [...cut] };
}

const request = JSON.parse(readFileSync(0, 'utf8'));
const answers = request.texts.map((text, index) => {
  try {
    if (request.seeds !== undefined) return [...Array(request.seeds).keys()].map((seed) => roll(text, generator(seed)));
    if (request.faces !== undefined) return given(text, request.faces[index]);
    return walked(text, request.depth, request.most);
  } catch (error) {
    return { error: `${error.name}: ${error.message.split('\n')[0].slice(0, 200)}` };
  }
});
process.stdout.write(JSON.stringify(answers));
