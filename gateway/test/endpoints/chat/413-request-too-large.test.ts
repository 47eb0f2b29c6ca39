import { expect, test } from "bun:test";
import { connect } from "node:net";
import { bounds } from "#core/index.ts";
import { aliceKey, errorOf, hello, startGateway } from "../../started-gateway.ts";

/** Sends raw bytes and returns what came back, up to the end of the answer's head. */
function exchange(port: number, head: string, feed: (write: (bytes: string) => boolean) => void): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(head);
      feed((bytes) => !socket.destroyed && socket.write(bytes));
    });
    let received = "";
    socket.on("data", (data) => {
      received += data.toString("latin1");
      if (!received.includes("\r\n\r\n")) return;
      socket.destroy();
      resolve(received);
    });
    socket.on("error", (error) => (received === "" ? reject(error) : resolve(received)));
    socket.on("close", () => resolve(received));
  });
}

const head = (extra: string): string =>
  `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${aliceKey}\r\ncontent-type: application/json\r\n${extra}\r\n\r\n`;

test("rejects a body by its declared length, before it arrives", async () => {
  const gateway = await startGateway();
  try {
    const answer = await exchange(
      gateway.gateway.server.port,
      head(`content-length: ${bounds.requestBodyBytesMax + 1}`),
      () => {},
    );
    expect(answer).toStartWith("HTTP/1.1 413");
  } finally {
    await gateway.stop();
  }
});

test("cuts off a body without a declared length at the bound", async () => {
  const gateway = await startGateway();
  try {
    const piece = "x".repeat(1 << 20);
    const answer = await exchange(gateway.gateway.server.port, head("transfer-encoding: chunked"), (write) => {
      let sent = 0;
      const more = (): void => {
        if (sent > bounds.requestBodyBytesMax * 1.5 || !write(`100000\r\n${piece}\r\n`)) {
          if (sent <= bounds.requestBodyBytesMax * 1.5) setTimeout(more, 5);
          sent += piece.length;
          return;
        }
        sent += piece.length;
        setImmediate(more);
      };
      more();
    });
    expect(answer).toStartWith("HTTP/1.1 413");
  } finally {
    await gateway.stop();
  }
});

test("rejects a body with too many values or too many top-level members", async () => {
  const gateway = await startGateway();
  try {
    const start = JSON.stringify(hello).slice(0, -1);
    const values = `${start},"x":[${"1,".repeat(bounds.jsonValuesMax)}1]}`;
    const nested = `${start},"x":[${"[{}],".repeat(bounds.jsonValuesMax / 2)}1]}`;
    const members = `${start},${Array.from({ length: bounds.jsonMembersMax }, (_, at) => `"k${at}":1`).join(",")}}`;
    for (const body of [values, nested, members]) {
      expect(await errorOf(await gateway.chat(body))).toMatchObject({ status: 413, code: "request_too_large" });
    }
    // Agents and embeddings clients send far fewer.
    const many = `${start},"x":[${"1,".repeat(300_000)}1]}`;
    expect((await gateway.chat(many, { script: { tokens: 1 } })).status).toBe(200);
  } finally {
    await gateway.stop();
  }
});
