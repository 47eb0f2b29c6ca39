import { expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";
import { type ShownWords, shownWords } from "./shown-words.ts";

const source = join(import.meta.dir, "..");

/** Strings that are not translated: programs, sample bodies, names. The comments explain each group. */
const exceptions: Readonly<Record<string, readonly string[]>> = {
  "client/problem.ts": ["Problem"],
  // Names of browsers and of systems.
  "features/profile/browser-name.ts": ["Edge", "Opera", "Firefox", "Chrome", "Safari", "Android", "Windows", "Linux"],
  "features/profile/passkeys-section.tsx": ["Android", "Mac", "Windows", "Linux"],
  // Keys as they are printed on keyboards, and the ending of an error's name.
  "session/sign-in-calls.ts": ["Error"],
  "shell/shortcut-help.tsx": ["Esc"],
  "shell/top-bar.tsx": ["K"],
  "shell/use-shortcuts.ts": ["Ctrl"],
  // Headers.
  "features/workspaces/webhook-secret.tsx": ["webhook-id", "webhook-timestamp", "webhook-signature"],
  // Rules of a coding agent.
  "features/workspaces/agents/settings-form.tsx": ["Bash(npm run test *)", "Bash(git push *)", "Read(./.env)"],
  // Figures of the admin API.
  "features/overview/usage-figures-row.tsx": [
    "request_latency_p50_ms",
    "request_latency_p95_ms",
    "request_first_token_p50_ms",
    "request_first_token_p95_ms",
  ],
  // Programs in other languages, and the names of programs.
  "components/snippet-texts.ts": [
    "My parcel never arrived.",
    "The customer complains.",
    ', input="My parcel never arrived.",',
    'questions=[{"type": "predicate", "instructions": "The customer complains."}],',
    "const answer = await client.decisions.create({",
    ', input: "My parcel never arrived.",',
    'questions: [{ type: "predicate", instructions: "The customer complains." }],',
    "Hello",
    "const answer = await client.chat.completions.create({",
    "def fib(n):",
    "answer = client.completions.create(model=",
    "const answer = await client.completions.create({",
    "A lighthouse at dawn",
    "answer = client.images.generate(model=",
    ', prompt="A lighthouse at dawn", size="1024x1024")',
    "const answer = await client.images.generate({ model:",
    ', prompt: "A lighthouse at dawn", size: "1024x1024" });',
    ', "prompt": "A lighthouse at dawn", "ratio": "16:9", "duration": 5,',
    'const task = await client.post("/video/tasks", {',
    ', prompt: "A lighthouse at dawn", ratio: "16:9", duration: 5 },',
    "answer = client.embeddings.create(model=",
    "const answer = await client.embeddings.create({ model:",
    "Where do ships go?",
    "answer = client.moderations.create(model=",
    "const answer = await client.moderations.create({ model:",
    "answer = client.audio.transcriptions.create(model=",
    "const answer = await client.audio.transcriptions.create({ model:",
    "A lighthouse at dawn.",
    "answer = client.audio.speech.create(model=",
    ', input="A lighthouse at dawn.", voice="alloy")',
    "const answer = await client.audio.speech.create({ model:",
    ', input: "A lighthouse at dawn.", voice: "alloy" });',
    'await writeFile("speech.mp3", Buffer.from(await answer.arrayBuffer()));',
    '"authorization: Bearer $',
    "authorization: Bearer",
    "curl",
    "import os",
    "from openai import OpenAI",
    "client = OpenAI(base_url=",
    "from anthropic import Anthropic",
    "client = Anthropic(base_url=",
    'print(next(block.text for block in message.content if block.type == "text"))',
    'import Anthropic from "@anthropic-ai/sdk";',
    "const client = new Anthropic({ baseURL:",
    "const message = await client.messages.create({",
    "Python",
    'import OpenAI from "openai";',
    "const client = new OpenAI({ baseURL:",
    "export ANTHROPIC_BASE_URL=",
    "export ANTHROPIC_AUTH_TOKEN=",
    "export ANTHROPIC_MODEL=",
    "export ANTHROPIC_DEFAULT_OPUS_MODEL=",
    "export ANTHROPIC_DEFAULT_SONNET_MODEL=",
    "export ANTHROPIC_DEFAULT_HAIKU_MODEL=",
    "Claude Code",
    "model =",
    "export",
    "Codex",
    "export OPENAI_BASE_URL=",
    "export OPENAI_API_KEY=",
    "# then ask for the model",
  ],
  // Commands, settings of programs, and the programs' names.
  "features/connect/setup-texts.ts": [
    "sluice connect claude --login",
    "sluice token",
    "sluice login",
    "sluice connect",
    "Claude Code",
    "model =",
    "Codex",
    "GitHub Actions",
    '- run: claude -p "Review the last commit."',
    '- export ANTHROPIC_AUTH_TOKEN="$SLUICE_TOKEN" OPENAI_API_KEY="$SLUICE_TOKEN"',
    '- claude -p "Review the last commit."',
  ],
  // Commands and settings of programs.
  "features/connect/tool-texts.ts": [
    "export GOOGLE_GEMINI_BASE_URL=",
    "export GEMINI_API_KEY=",
    "gemini --model",
    "export",
    "docker run -d -p 3000:8080 --add-host=host.docker.internal:host-gateway \\",
    "cline auth --provider openai-compatible \\",
    "package main",
    "func main() {",
    "if err != nil {",
    "Sluice",
  ],
  // Names of programs.
  "features/connect/guides.ts": ["Claude Code", "Codex", "OpenAI SDK", "Anthropic SDK", "Gemini CLI", "Open WebUI"],
  "features/connect/tools.ts": ["Claude Code", "Codex", "Cursor", "Cline", "Gemini CLI", "Open WebUI", "Python", "Go"],
  // Values of the API.
  "features/assets/asset-types.ts": ["Image", "Video", "Audio"],
  "features/assets/upload-file.ts": ["Image", "Video", "Audio"],
  // The ending of a file's name.
  "features/media/video-player.tsx": [".mp4"],
  // Sent to a model.
  "features/playground/chat/conversation.ts": ["This tool was not run."],
  // A sample of a body or a program.
  "features/playground/chat/settings-panel.tsx": ['{ "reasoning_effort": "low" }'],
  // A sample of a body or a program.
  "features/playground/chat/tool-results.tsx": ['{"temperature": 18, "sky": "clear"}'],
  // Sent to a model.
  "features/playground/chat/tools.ts": ["Get the current weather in a city."],
  // A sample of a body or a program.
  "features/playground/completion/completion-panel.tsx": ["def fib(n):", "print(fib(8))"],
  // A sample of a body or a program.
  "features/playground/images/image-form.tsx": ['{ "background": "transparent" }'],
  // Words of Python.
  "features/playground/same-call/literals.ts": ["None", "True", "False"],
  // Programs in Python, JavaScript and for a shell.
  "features/playground/same-call/same-call.ts": [
    "Python",
    "curl",
    "model messages stream stream_options temperature max_completion_tokens max_tokens stop tools tool_choice top_p seed n user reasoning_effort response_format presence_penalty frequency_penalty parallel_tool_calls",
    "model prompt size n quality response_format background output_format style user",
    "model prompt size n quality response_format background output_format user",
    "model input dimensions encoding_format user",
    "model prompt suffix max_tokens temperature stream stream_options stop",
    "model input",
    "model input questions",
    "model response_format language prompt stream",
    "model response_format prompt",
    "model input voice response_format instructions speed",
    "import os",
    "import base64",
    "from openai import OpenAI",
    "client = OpenAI(base_url=",
    "answer =",
    'for row in answer["results"]: print(row["index"], row["relevance_score"])',
    "for event in answer:",
    'if event.type == "transcript.text.delta":',
    "for chunk in answer:",
    "if chunk.choices and chunk.choices[0].delta.content:",
    "print([len(row.embedding) for row in answer.data])",
    'print(chunk.choices[0].text if chunk.choices else "", end="", flush=True)',
    'import OpenAI from "openai";',
    "const client = new OpenAI({ baseURL:",
    "const",
    "= await client.post(",
    "const answer = await",
    "await OpenAI.toFile(createReadStream(",
    "for await (const event of answer) {",
    "for await (const chunk of answer) {",
  ],
  // A sample of a body or a program.
  "features/playground/video/video-form.tsx": ['{ "return_last_frame": true }'],
  // An example of JSON.
  "features/models/detail/capabilities-button.tsx": ['{ "resolutions": ["720p", "1080p"], "durations": [5, 10] }'],
  "features/batches/list/batch-call.ts": ["Hello", "curl"],
  "features/files/upload-call.ts": ["curl"],
  "features/settings/sample-call.ts": ["curl", '\\ -H "Authorization: Bearer $SLUICE_ADMIN_TOKEN"'],
  // A type of secret.
  "features/settings/user-actions.tsx": ["link"],
  "features/settings/invite-administrator.tsx": ["link"],
  // Commands.
  "features/settings/backup-tab.tsx": [
    "rm -f sluice.db-wal sluice.db-shm",
    "cp sluice-<date>.sqlite sluice.db",
    "cp <kept elsewhere>/master.key master.key && chmod 600 master.key",
  ],
};

test("no text is hard-coded in a component", async () => {
  const found: string[] = [];
  for await (const file of new Glob("**/*.{ts,tsx}").scan(source)) {
    if (/\.test\.tsx?$/.test(file) || /^language\/(?:en\/|zh-CN\/|shown-words)/.test(file)) continue;
    const allowed = exceptions[file] ?? [];
    const texts = shownWords(file, await Bun.file(join(source, file)).text());
    found.push(
      ...texts.filter(({ text }) => !allowed.includes(text)).map(({ line, text }) => `${file}:${line} ${text}`),
    );
  }
  expect(found).toEqual([]);
});

test.each([
  ["text between tags", "<p>Hello</p>", ["Hello"]],
  ["a label", '<Button label="save" />', ["save"]],
  ["a choice that is drawn", '<p>{x ? "none" : y && `many`}</p>', ["none", "many"]],
  ["a sentence anywhere", 'const text = "Nothing was found";', ["Nothing was found"]],
  ["a word with a capital", 'const columns = [{ header: "Name" }];', ["Name"]],
  ["a sentence with a value in it", "const text = `for $" + "{n} more days`;", ["for", "more days"]],
  ["a translated text, a class, a code, an internal error", '<p className="a b" id="x">{t("keys.title")}</p>', []],
  ["an internal error", 'throw new Error("Nothing is there");', []],
  ["a compared value", 'if (event.key === "Escape") leave();', []],
] as const)("%s", (_, code, words) => {
  expect(shownWords("some.tsx", code).map(({ text }: ShownWords) => text)).toEqual([...words]);
});
