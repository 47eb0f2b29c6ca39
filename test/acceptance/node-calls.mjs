// Makes the essential calls with the official client on Node, and prints the results as one line of JSON.
// Usage: node node-calls.mjs <base url> <key>
import OpenAI from "openai";

const [baseURL, apiKey] = process.argv.slice(2);
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const messages = [{ role: "user", content: 'one two [[sim {"tokens":3,"event_ms":2}]]' }];

const models = [];
for await (const model of client.models.list()) models.push(model.id);
const retrieved = (await client.models.retrieve("gpt-test")).id;
const whole = await client.chat.completions.create({ model: "gpt-test", messages });

let streamed = "";
let usage = null;
const stream = await client.chat.completions.create({
  model: "gpt-test",
  stream: true,
  stream_options: { include_usage: true },
  messages,
});
for await (const chunk of stream) {
  streamed += chunk.choices[0]?.delta.content ?? "";
  usage ??= chunk.usage ?? null;
}

const long = [{ role: "user", content: 'x [[sim {"tokens":500000,"event_ms":5}]]' }];
const aborted = await client.chat.completions.create({ model: "gpt-test", stream: true, messages: long });
for await (const chunk of aborted) if (chunk.choices[0]?.delta.content) break;

const refusal = await client.chat.completions.create({ model: "gpt-none", messages }).then(
  () => null,
  (error) => ({ name: error.constructor.name, status: error.status, code: error.code }),
);

console.log(
  JSON.stringify({
    node: process.versions.node,
    models,
    retrieved,
    whole: { text: whole.choices[0].message.content, usage: whole.usage, request: whole._request_id },
    streamed,
    usage,
    refusal,
  }),
);
