import { afterAll, beforeAll, expect, test } from "bun:test";
import { email, secret } from "../../guardrails/guardrail-fixture.ts";
import { aliceKey, errorOf, type StartedGateway } from "../../started-gateway.ts";
import { bearer, fileForm, startFilesGateway, untilStored, upload } from "./files-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startFilesGateway({
    guardrails: [
      { name: "keys", check: { kind: "credentials" }, action: "block" },
      { name: "mail", check: { kind: "personal_data", types: ["email"] }, action: "mask", on: ["input"] },
    ],
  });
});
afterAll(() => gateway.stop());

const send = async (bytes: string, name?: string) => {
  const body = fileForm({ purpose: "user_data" }, bytes, name);
  return errorOf(await fetch(`${gateway.url}/v1/files`, { method: "POST", headers: bearer(), body }));
};
const line = "Nothing to see in this line of plain text.\n";

test.each([
  ["a short text", `Use ${secret} now`, "notes.txt"],
  ["a text behind a megabyte", `${line.repeat(40_000)}Use ${secret} now\n${line.repeat(1_000)}`, "long.txt"],
  ["a text where two windows meet", `${"x".repeat(1024 * 1024 - 12)} ${secret} ${line}`, "cut.txt"],
  ["its name", "harmless", `${secret}.txt`],
  ["text that calls itself a picture", `Use ${secret} now`, "picture.png"],
  ["a value that would be masked", `Write to ${email}`, "mail.txt"],
])("refuses %s with what the workspace's guardrails find, and stores nothing", async (_, bytes, name) => {
  const refused = await send(bytes, name);
  expect(refused).toMatchObject({ status: 400, code: "guardrail_blocked" });
  expect(JSON.stringify(refused)).not.toContain(secret);
  await untilStored(gateway, []);
});

test("stores a long text and a binary file without findings", async () => {
  const text = `Zeilen mit Umlauten: äöü 好\n${line}`.repeat(40_000);
  const long = await upload(gateway, fileForm({ purpose: "user_data" }, text));
  expect(await (await gateway.get(`/v1/files/${long.id}/content`)).text()).toBe(text);
  await upload(
    gateway,
    fileForm({ purpose: "vision" }, new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 255]), "a.png"),
  );
});

test("checks a file for a caller with other guardrails than its uploader", async () => {
  const strict = await startFilesGateway({
    guardrails: [{ name: "keys", check: { kind: "credentials" }, action: "block", groups: ["acme/strict"] }],
    workspace: {
      groups: [{ name: "default" }, { name: "strict" }],
      keys: [
        { name: "alice", secret: aliceKey },
        { name: "bob", secret: bobKey, group: "strict" },
      ],
    },
  });
  try {
    const { id } = await upload(strict, fileForm({ purpose: "user_data" }, `Use ${secret} now`));
    const clean = await upload(strict, fileForm({ purpose: "user_data" }, "Nothing to see here"));
    const ask = (file_id: string, key: string) =>
      strict.post("/v1/responses", { model: "openai", input: [userFile(file_id)], store: false }, { key });
    expect((await ask(id, aliceKey)).status).toBe(200);
    expect(await errorOf(await ask(id, bobKey))).toMatchObject({ status: 400, code: "guardrail_blocked" });
    expect((await ask(clean.id, bobKey)).status).toBe(200);
    const { kysely } = strict.control.database;
    await strict.entries();
    const found = await kysely.selectFrom("guardrail_checks").select(["verdict", "key_id"]).execute();
    expect(found.map(({ verdict }) => verdict)).toEqual(["blocked"]);
  } finally {
    await strict.stop();
  }
});

const bobKey = "sk-bob-0123456789abcdefghijklm";
const userFile = (file_id: string) => ({ role: "user", content: [{ type: "input_file", file_id }] });
