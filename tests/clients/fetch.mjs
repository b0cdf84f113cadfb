// Rolls over REST with nothing but Node (or a browser's console: the same lines work there):
//   node fetch.mjs http://127.0.0.1:8080
// With API keys: FAIRROLL_API_KEY=... Prints one JSON document.
const [address] = process.argv.slice(2);
const headers = { "content-type": "application/json" };
if (process.env.FAIRROLL_API_KEY) headers["x-api-key"] = process.env.FAIRROLL_API_KEY;

async function post(path, body) {
  const answer = await fetch(address + path, { method: "POST", headers, body });
  return { status: answer.status, type: answer.headers.get("content-type"), text: await answer.text() };
}

const of = (text) => ({ checks: [{ notation: { text } }] });
const rolled = await post("/v1/rolls", JSON.stringify({ ...of("4d6kh3"), requestId: "four clients" }));
const refused = await post("/v1/rolls", JSON.stringify(of("4d")));
const lines = ["1d20", "1d", "2d6+3"].map((text, index) =>
  JSON.stringify({ itemId: String(index), request: of(text) }),
);
const streamed = await post("/v1/rolls:stream", lines.join("\n")); // one JSON document a line, both ways
const receipt = JSON.parse(rolled.text);
console.log(
  JSON.stringify({
    payload: receipt.envelope.payload,
    signature: receipt.envelope.signatures[0].sig,
    total: receipt.record.outcomes[0].notation.total,
    refused: { status: refused.status, contentType: refused.type, ...JSON.parse(refused.text) },
    streamed: streamed.text.trimEnd().split("\n").map((line) => JSON.parse(line)),
  }),
);
