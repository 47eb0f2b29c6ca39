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
const good = `${field("model", "paint-test")}${field("prompt", "p")}--b--`;

async function refused(body: string, type = "multipart/form-data; boundary=b", key = aliceKey) {
  const headers = { "content-type": type, authorization: `Bearer ${key}` };
  return errorOf(await fetch(`${gateway.url}/v1/images/edits`, { method: "POST", headers, body }));
}

test.each([
  ["without a model", `${field("prompt", "p")}--b--`, 400, "missing_required_parameter", "model"],
  ["without a prompt", `${field("model", "paint-test")}--b--`, 400, "missing_required_parameter", "prompt"],
  ["that ends too early", good.slice(0, -2), 400, "invalid_request", null],
  ["with two models", field("model", "x") + good, 400, "invalid_request", "model"],
  ["for a model that is not there", good.replace("paint-test", "none"), 404, "model_not_found", "model"],
])("a form %s is refused", async (_, body, status, code, param) => {
  expect(await refused(body)).toMatchObject({ status, code, param });
});

test("a form without a boundary is a 400, and a body that is neither form nor JSON a 415", async () => {
  expect(await refused(good, "multipart/form-data")).toMatchObject({ status: 400, code: "invalid_request" });
  for (const type of ["multipart/mixed; boundary=b", "text/plain", "application/x-www-form-urlencoded"]) {
    const error = await refused(good, type);
    expect(error).toMatchObject({ status: 415, code: "unsupported_media_type" });
    expect(error.message).toContain("application/json");
    expect(error.message).toContain("multipart/form-data");
  }
});

test("a caller who is not known is refused before its form is read", async () => {
  const head = `POST /v1/images/edits HTTP/1.1\r\nhost: x\r\nauthorization: Bearer sk-nobody-0123456789abcdefghij\r\n`;
  const answer = await begin(
    `${head}content-type: multipart/form-data; boundary=b\r\ncontent-length: 50000000\r\n\r\n`,
  );
  expect(answer).toStartWith("HTTP/1.1 401");
});

test("a form larger than the bound is a 413 before it is sent", async () => {
  const head = `POST /v1/images/edits HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${aliceKey}\r\n`;
  const length = `content-length: ${bounds.requestBodyBytesMax + 1}`;
  const answer = await begin(`${head}content-type: multipart/form-data; boundary=b\r\n${length}\r\n\r\n`);
  expect(answer).toStartWith("HTTP/1.1 413");
});

/** Sends the head of a request and nothing of its body; resolves with the beginning of the answer. */
function begin(head: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(gateway.gateway.server.port, "127.0.0.1", () => socket.write(head));
    socket.on("error", reject);
    socket.once("data", (bytes) => {
      socket.destroy();
      resolve(bytes.toString("latin1"));
    });
  });
}
