import { buildGateway } from "../../scripts/build-gateway.mjs";

/** The program that `npm start` runs, built from the current source. */
export function gatewayProgram(): string {
  const program = buildGateway();
  if (program === null) throw new Error("the gateway could not be built");
  return program;
}
