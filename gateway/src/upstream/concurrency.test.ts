import { expect, test } from "bun:test";
import { rawAnswer, startRawUpstream } from "../../test/raw-upstream.ts";

/** Sends 300 requests at once in a separate process, and prints how many were answered. */
const program = `
  import { createTransport } from ${JSON.stringify(`${import.meta.dir}/index.ts`)};
  import { systemClock } from ${JSON.stringify(`${import.meta.dir}/../system/index.ts`)};
  import { outbound } from ${JSON.stringify(`${import.meta.dir}/../../test/outbound.ts`)};
  const transport = createTransport({ clock: systemClock });
  const send = async () => (await transport.send(outbound(process.argv[1]), new AbortController().signal)).body.readAll(10, "idle", 9_000);
  const answers = await Promise.all(Array.from({ length: 300 }, send));
  console.log(answers.length);
`;

test("sends 300 requests at once, and ignores the environment's proxy variables", async () => {
  const answers: (() => void)[] = [];
  // No request is answered before all have arrived: a queue inside the client would never empty.
  const upstream = await startRawUpstream((socket) => {
    answers.push(() => socket.write(rawAnswer("ok")));
    if (answers.length === 300) for (const answer of answers) answer();
  });
  const env = { ...process.env, HTTP_PROXY: "http://127.0.0.1:1", NO_PROXY: "" };
  const child = Bun.spawn([process.execPath, "-e", program, upstream.url], { stdout: "pipe", env, timeout: 4_500 });
  const printed = await new Response(child.stdout).text();
  upstream.stop();
  expect(printed.trim()).toBe("300");
});
