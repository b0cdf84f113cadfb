// Rolls over gRPC with nothing generated:
//   npm install @grpc/grpc-js @grpc/proto-loader
//   node roll.mjs 127.0.0.1:50051 PROTO_FOLDER FOLDER_OF_GOOGLE_RPC
// With API keys: FAIRROLL_API_KEY=... Prints one JSON document.
import grpc from "@grpc/grpc-js";
import loader from "@grpc/proto-loader";

const [address, ...includeDirs] = process.argv.slice(2);
const definitions = loader.loadSync(["fairroll/v1/service.proto", "google/rpc/error_details.proto"], {
  includeDirs,
  keepCase: true,
  longs: String, // seq and the like pass 2^53 in theory
  enums: String,
  oneofs: true,
});
const { RollService } = grpc.loadPackageDefinition(definitions).fairroll.v1;
const client = new RollService(address, grpc.credentials.createInsecure()); // one, kept and reused

function metadata() {
  const made = new grpc.Metadata();
  if (process.env.FAIRROLL_API_KEY) made.set("x-api-key", process.env.FAIRROLL_API_KEY);
  return made;
}

/** One roll; always with a deadline. */
function roll(request) {
  return new Promise((resolve, reject) => {
    client.Roll(request, metadata(), { deadline: Date.now() + 10_000 }, (error, answer) =>
      error ? reject(error) : resolve(answer),
    );
  });
}

/** What an error says beside its code: google.rpc.Status stands in the trailers. */
function read(error) {
  const [bytes] = error.metadata.get("grpc-status-details-bin");
  const found = { code: grpc.status[error.code], message: error.details };
  for (const { type_url, value } of definitions["google.rpc.Status"].deserialize(bytes).details) {
    const name = type_url.split("/").pop();
    found[name.split(".").pop()] = definitions[name].deserialize(value);
  }
  return found;
}

/** Many rolls over one stream: answers come in the order of the items. */
function stream(items) {
  return new Promise((resolve, reject) => {
    const answers = [];
    const call = client.StreamRolls(metadata(), { deadline: Date.now() + 10_000 });
    call.on("data", (answer) => answers.push({ id: answer.item_id, kind: answer.answer }));
    call.on("error", reject);
    call.on("end", () => resolve(answers));
    items.forEach((item) => call.write(item));
    call.end();
  });
}

const of = (text) => ({ checks: [{ notation: { text } }] });
const answer = await roll({ ...of("4d6kh3"), request_id: "four clients" });
const refused = await roll(of("4d")).then(
  () => null,
  (error) => read(error),
);
const streamed = await stream(
  ["1d20", "1d", "2d6+3"].map((text, index) => ({ item_id: String(index), request: of(text) })),
);
client.close();
console.log(
  JSON.stringify({
    payload: answer.envelope.payload.toString("base64"),
    signature: answer.envelope.signatures[0].sig.toString("base64"),
    total: answer.record.outcomes[0].notation.total,
    refused,
    streamed,
  }),
);
