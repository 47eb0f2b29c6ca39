import { expect, test } from "bun:test";
import { curlOf } from "./curl.ts";

test("the curl line sends exactly the same body, whatever was typed", async () => {
  const content = 'it\'s "quoted" $HOME `date` \\ and\nnew lines';
  const line = curlOf("http://localhost:8787", "demo", [{ role: "user", content }]);
  expect(line).not.toContain("sk-");
  const shown = line.replace(/^curl -N/, `printf '%s\\n'`);
  const shell = Bun.spawn(["sh", "-c", shown], { stdout: "pipe" });
  const printed = await new Response(shell.stdout).text();
  expect(JSON.parse(printed.slice(printed.indexOf("-d\n") + 3))).toEqual({
    model: "demo",
    stream: true,
    stream_options: { include_usage: true },
    messages: [{ role: "user", content }],
  });
});
