import { expect, test } from "bun:test";
import { connect } from "node:net";
import { bounds } from "#core/index.ts";
import { aliceKey, errorOf, hello, startGateway } from "../../started-gateway.ts";

/** Sends raw bytes and resolves to what came back until the answer's head is whole. */
function exchange(port: number, head: string, feed: (write: (bytes: string) => boolean) => void): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(head);
      feed((bytes) => !socket.destroyed && socket.write(bytes));
    });
    let seen = "";
    socket.on("data", (data) => {
      seen += data.toString("latin1");
      if (!seen.includes("\r\n\r\n")) return;
      socket.destroy();
      resolve(seen);
    });
    socket.on("error", (error) => (seen === "" ? reject(error) : resolve(seen)));
    socket.on("close", () => resolve(seen));
  });
}

const head = (extra: string): string =>
  `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${aliceKey}\r\ncontent-type: application/json\r\n${extra}\r\n\r\n`;

test("a body that declares too much is refused before it is sent", async () => {
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

test("a body that declares nothing is cut off at the bound", async () => {
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

test("a body of more values, or of more members at its top, than any client sends is refused", async () => {
  const gateway = await startGateway();
  try {
    const begin = JSON.stringify(hello).slice(0, -1);
    const values = `${begin},"x":[${"1,".repeat(bounds.jsonValuesMax)}1]}`;
    const nested = `${begin},"x":[${"[{}],".repeat(bounds.jsonValuesMax / 2)}1]}`;
    const members = `${begin},${Array.from({ length: bounds.jsonMembersMax }, (_, at) => `"k${at}":1`).join(",")}}`;
    for (const body of [values, nested, members]) {
      expect(await errorOf(await gateway.chat(body))).toMatchObject({ status: 413, code: "request_too_large" });
    }
    // What agents and embeddings send is far below it.
    const many = `${begin},"x":[${"1,".repeat(300_000)}1]}`;
    expect((await gateway.chat(many, { script: { tokens: 1 } })).status).toBe(200);
  } finally {
    await gateway.stop();
  }
});
