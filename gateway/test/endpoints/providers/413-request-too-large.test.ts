import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { aliceKey } from "../../started-gateway.ts";
import { startGranted, startVendor } from "./vendor.ts";

test("rejects a body by its declared length without calling the vendor", async () => {
  const vendor = await startVendor();
  const gateway = await startGranted(vendor);
  try {
    for (const path of ["/uploads", "/v1/chat/completions"]) {
      const { hostname, port } = new URL(gateway.url);
      const answer = await new Promise<string>((resolve, reject) => {
        let text = "";
        void Bun.connect({
          hostname,
          port: Number(port),
          socket: {
            open(socket) {
              const head = `POST /v1/providers/own${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${aliceKey}\r\n`;
              socket.write(
                `${head}content-type: application/json\r\ncontent-length: ${bounds.requestBodyBytesMax + 1}\r\n\r\n{`,
              );
            },
            data(socket, bytes) {
              text += bytes.toString();
              if (!text.includes("request_too_large")) return;
              socket.end();
              resolve(text);
            },
            error: (_, error) => reject(error),
            close: () => resolve(text),
          },
        });
      });
      expect(answer).toMatch(/^HTTP\/1\.1 413 /);
      expect(answer).toContain("request_too_large");
    }
    expect(vendor.received).toHaveLength(0);
  } finally {
    await gateway.stop();
    vendor.stop();
  }
});
