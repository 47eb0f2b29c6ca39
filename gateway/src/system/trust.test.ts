import { expect, test } from "bun:test";
import { createServer } from "node:tls";

const fixtures = new URL("../../test/fixtures/", import.meta.url).pathname;

// In a separate process, because the setting applies to the whole process.
test("trusts an added authority in every TLS client of the process and its threads", async () => {
  const authority = `${fixtures}tls/upstream.example.cert.pem`;
  const [cert, key] = await Promise.all([
    Bun.file(authority).text(),
    Bun.file(`${fixtures}tls/upstream.example.key.pem`).text(),
  ]);
  const server = createServer({ cert, key }, (socket) => socket.on("error", () => socket.destroy()).end());
  server.on("tlsClientError", () => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  try {
    const program = [process.execPath, "--no-env-file", `${fixtures}trusting-program.ts`, String(port), authority];
    const { stdout } = Bun.spawn(program, { stdout: "pipe", stderr: "inherit" });
    expect((await new Response(stdout).text()).trim()).toBe("DEPTH_ZERO_SELF_SIGNED_CERT trusted trusted");
  } finally {
    server.close();
  }
});
