import { expect, test } from "bun:test";
import { type SameCall, sameCallTexts } from "./same-call.ts";

const content = 'it\'s "quoted" $HOME `date` \\ and\nnew lines\nJSON\n';
const call: SameCall = {
  path: "/v1/chat/completions",
  sdk: "chat",
  body: { model: "m", stream: true, messages: [{ role: "user", content }], enable_thinking: false, stop: null },
};
const text = (made: SameCall, id: string) => {
  const found = sameCallTexts(made, "http://localhost:8787/").find((each) => each.id === id);
  if (found === undefined) throw new Error(id);
  return found;
};

/** Runs a line with its first word replaced, so that it prints what it would send. */
async function printed(line: string, ...replaced: [string | RegExp, string]): Promise<string> {
  const shell = Bun.spawn(["sh", "-c", line.replace(...replaced)], { stdout: "pipe" });
  return await new Response(shell.stdout).text();
}

test("curl sends exactly the same body for any input, and reads the key from a variable", async () => {
  const { whole } = text(call, "curl");
  expect(whole).toContain("Bearer $SLUICE_API_KEY");
  expect(JSON.parse(await printed(whole, /^curl [\s\S]*--data-binary @-/, "cat"))).toEqual(call.body);
});

test("a form keeps its fields and names its files", async () => {
  const body = { model: "m", prompt: "it's\n$HOME", n: 2 };
  const form = { path: "/v1/images/edits", sdk: "edits", body, files: ["a.png", "b.jpg"] } as const;
  const lines = await printed(text(form, "curl").whole, /^curl/, `printf '%s|'`);
  expect(lines.split("|")).toContain("prompt=it's\n$HOME");
  expect(lines).toContain("-F|image[]=@a.png|-F|image[]=@b.jpg|");
  expect(text(form, "javascript").whole).toContain('createReadStream("b.jpg"), null, { type: "image/jpeg" }');
  expect(text(form, "python").whole).toContain('image=[open("a.png", "rb"), open("b.jpg", "rb")],');
});

test("Python code uses Python's literals, and sends parameters unknown to the SDK as extra_body", () => {
  const { whole } = text(call, "python");
  expect(whole).toContain("    stream=True,\n");
  expect(whole).toContain("    stop=None,\n");
  expect(whole).toContain('    extra_body={\n        "enable_thinking": False,\n    },\n');
});

test("the shown JavaScript is valid", () => {
  const sounds = { files: ["a.wav"], body: { model: "m", stream: "true" } };
  for (const sdk of [
    "chat",
    "images",
    "video",
    "embeddings",
    "completions",
    "moderations",
    "rerank",
    "speech",
  ] as const) {
    const { whole } = text({ ...call, sdk }, "javascript");
    expect(() => new Bun.Transpiler({ loader: "js" }).transformSync(whole)).not.toThrow();
  }
  const { whole } = text({ ...call, ...sounds, sdk: "transcriptions" }, "javascript");
  expect(() => new Bun.Transpiler({ loader: "js" }).transformSync(whole)).not.toThrow();
});

test("audio is sent as a file of the form, and a streamed transcript is read by events", async () => {
  const body = { model: "m", response_format: "json", stream: "true" };
  const sound = { path: "/v1/audio/transcriptions", sdk: "transcriptions", body, files: ["note.wav"] } as const;
  expect(await printed(text(sound, "curl").whole, /^curl/, `printf '%s|'`)).toContain("-F|file=@note.wav|");
  expect(text(sound, "python").whole).toContain('    file=open("note.wav", "rb"),\n    model="m"');
  expect(text(sound, "python").whole).toContain("    stream=True,\n");
  expect(text(sound, "javascript").whole).toContain('file: createReadStream("note.wav")');
});

test("generated speech is written to a file", () => {
  const speech = { path: "/v1/audio/speech", sdk: "speech", body: { model: "m", response_format: "wav" } } as const;
  expect(text(speech, "curl").whole).toContain(" -o speech.wav ");
  expect(text(speech, "python").whole).toContain('answer.write_to_file("speech.wav")');
  expect(text(speech, "javascript").whole).toContain('writeFileSync("speech.wav"');
});

test("long picture data is shortened for display and complete when copied", () => {
  const url = `data:image/png;base64,${"A".repeat(5_000)}`;
  const { shown, whole } = text({ ...call, body: { model: "m", image: url, list: [{ url }] } }, "curl");
  expect(shown.length).toBeLessThan(600);
  expect(shown).toContain("data:image/png;base64,AAA");
  expect(whole).toContain(url);
});
