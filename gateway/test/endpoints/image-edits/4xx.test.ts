import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect } from "node:net";
import { bounds } from "#core/index.ts";
import { aliceKey, errorOf, type StartedGateway, startGateway } from "../../started-gateway.ts";
import { imageGateway } from "../images/image-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(imageGateway);
});
afterAll(() => gateway.stop());

const field = (name: string, value: string): string =>
  `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const validForm = `${field("model", "paint-test")}${field("prompt", "p")}--b--`;

async function errorFor(body: string, type = "multipart/form-data; boundary=b", key = aliceKey) {
  const headers = { "content-type": type, authorization: `Bearer ${key}` };
  return errorOf(await fetch(`${gateway.url}/v1/images/edits`, { method: "POST", headers, body }));
}

test.each([
  ["without a model", `${field("prompt", "p")}--b--`, 400, "missing_required_parameter", "model"],
  ["without a prompt", `${field("model", "paint-test")}--b--`, 400, "missing_required_parameter", "prompt"],
  ["that ends too early", validForm.slice(0, -2), 400, "invalid_request", null],
  ["with two models", field("model", "x") + validForm, 400, "invalid_request", "model"],
  ["for a missing model", validForm.replace("paint-test", "none"), 404, "model_not_found", "model"],
])("rejects a form %s", async (_, body, status, code, param) => {
  expect(await errorFor(body)).toMatchObject({ status, code, param });
});

test("returns 400 for a form without a boundary, and 415 for a body that is neither a form nor JSON", async () => {
  expect(await errorFor(validForm, "multipart/form-data")).toMatchObject({ status: 400, code: "invalid_request" });
  for (const type of ["multipart/mixed; boundary=b", "text/plain", "application/x-www-form-urlencoded"]) {
    const error = await errorFor(validForm, type);
    expect(error).toMatchObject({ status: 415, code: "unsupported_media_type" });
    expect(error.message).toContain("application/json");
    expect(error.message).toContain("multipart/form-data");
  }
});

test("rejects an unknown key before reading the form", async () => {
  const head = `POST /v1/images/edits HTTP/1.1\r\nhost: x\r\nauthorization: Bearer sk-unknown-0123456789abcdefghij\r\n`;
  const answer = await sendHead(
    `${head}content-type: multipart/form-data; boundary=b\r\ncontent-length: 50000000\r\n\r\n`,
  );
  expect(answer).toStartWith("HTTP/1.1 401");
});

test("returns 413 for a form whose declared length exceeds the bound, before it arrives", async () => {
  const head = `POST /v1/images/edits HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${aliceKey}\r\n`;
  const length = `content-length: ${bounds.requestBodyBytesMax + 1}`;
  const answer = await sendHead(`${head}content-type: multipart/form-data; boundary=b\r\n${length}\r\n\r\n`);
  expect(answer).toStartWith("HTTP/1.1 413");
});

/** Sends the head of a request without its body, and returns the start of the answer. */
function sendHead(head: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(gateway.gateway.server.port, "127.0.0.1", () => socket.write(head));
    socket.on("error", reject);
    socket.once("data", (bytes) => {
      socket.destroy();
      resolve(bytes.toString("latin1"));
    });
  });
}
