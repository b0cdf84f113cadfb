// A roll by the stubs that docs/stubs.md generates: node roll.ts ADDRESS
import { credentials } from "@grpc/grpc-js";

import { RollRequest } from "./gen/fairroll/v1/roll.ts";
import { RollServiceClient } from "./gen/fairroll/v1/service.ts";

const client = new RollServiceClient(process.argv[2], credentials.createInsecure());
const request = RollRequest.fromPartial({ checks: [{ notation: { text: "4d6kh3" } }], requestId: "typed" });
client.roll(request, (error, response) => {
  if (error) throw error;
  console.log(JSON.stringify({ digest: response.digest, text: response.texts[0].plain }));
  client.close();
});
