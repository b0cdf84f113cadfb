// Types into the console of a page in Chromium, over its own protocol: node browser.mjs CHROMIUM FOLDER
// Reads {"page": address, "lines": [code, ..]} on stdin. Prints one JSON document: what each line came to, what was
// written to the console, and every address that the page asked for.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

const [chromium, folder] = process.argv.slice(2);
const { page, lines } = JSON.parse(await text(process.stdin));
const quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic"];
const started = spawn(
  chromium,
  ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--no-proxy-server", ...quiet]
    .concat(["--remote-debugging-port=0", `--user-data-dir=${folder}`, "about:blank"]),
  { stdio: "ignore", env: { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder, XDG_CACHE_HOME: folder } },
);

async function until(what, seconds = 60) {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; await sleep(50)) {
    const found = await what();
    if (found) return found;
  }
  throw new Error(`nothing came of ${what}`);
}

try {
  const file = join(folder, "DevToolsActivePort");
  const port = await until(() => existsSync(file) && readFileSync(file, "utf8").split("\n")[1] && readFileSync(file, "utf8").split("\n")[0]);
  const target = await until(async () => (await (await fetch(`http://127.0.0.1:${port}/json`)).json()).find((one) => one.type === "page"));
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  await new Promise((resolve, reject) => Object.assign(socket, { onopen: resolve, onerror: reject }));
  const waiting = new Map();
  const seen = { requests: [], printed: [], failures: [] };
  let loaded = false;
  socket.onmessage = ({ data }) => {
    const { id, result, error, method, params } = JSON.parse(data);
    if (id) waiting.get(id)(error ?? result);
    if (method === "Network.requestWillBeSent") seen.requests.push(params.request.url);
    if (method === "Page.loadEventFired") loaded = true;
    if (method === "Runtime.exceptionThrown") seen.failures.push(params.exceptionDetails.text);
    if (method === "Log.entryAdded" && params.entry.level === "error") seen.failures.push(params.entry.text);
    if (method === "Runtime.consoleAPICalled") seen.printed.push(params.args.map((one) => one.value ?? one.description));
  };
  const ask = (method, params = {}) =>
    new Promise((resolve) => {
      waiting.set(waiting.size + 1, resolve);
      socket.send(JSON.stringify({ id: waiting.size, method, params }));
    });
  for (const domain of ["Network", "Page", "Runtime", "Log"]) await ask(`${domain}.enable`);
  await ask("Page.navigate", { url: page });
  await until(() => loaded);
  const values = [];
  for (const expression of lines) {
    // As the console evaluates it: `await` and `const` at the top stand for the lines to come.
    const how = { expression, replMode: true, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await ask("Runtime.evaluate", how);
    values.push(exceptionDetails ? { error: exceptionDetails.exception?.description } : { value: result.value });
  }
  console.log(JSON.stringify({ values, ...seen }));
} finally {
  started.kill("SIGKILL");
}
process.exit(0);
