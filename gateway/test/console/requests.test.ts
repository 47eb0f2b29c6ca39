import { afterAll, beforeAll, expect, test } from "bun:test";
import { type RequestDetail, type RequestRow, requestsCsvPath } from "@sluice/contract";
import { until } from "../../../test/until.ts";
import { aliceSecret, codeOf, type MediaFixture, type MediaUser, openMediaFixture } from "./media-fixture.ts";

let fixture: MediaFixture;
beforeAll(async () => {
  fixture = await openMediaFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

const requests = "/api/workspaces/acme/requests";

/** Sends a chat; resolves to its request id. */
async function chat(model: string, headers: Record<string, string> = {}): Promise<string> {
  const answer = await fetch(`${fixture.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${aliceSecret}`, "content-type": "application/json", ...headers },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "hello" }] }),
  });
  await answer.text();
  return answer.headers.get("x-request-id") ?? "";
}

async function read<Answer>(who: MediaUser, path: string): Promise<Answer> {
  const answer = await fixture.as(who, path);
  expect(answer.status).toBe(200);
  return (await answer.json()) as Answer;
}

const listed = async (who: MediaUser, query: Record<string, string>) =>
  (await read<{ data: RequestRow[] }>(who, `${requests}?${new URLSearchParams(query)}`)).data;

test("every one of many identical refusals is found by its request id, with its explanation", async () => {
  const ids = await Promise.all(Array.from({ length: 12 }, () => chat("no-such-model")));
  await fixture.entries();
  const rows = await listed("admin", { error_code: "model_not_found" });
  const stored = new Set(rows.map((row) => row.request_id));
  await until(async () => (await listed("admin", { search: ids.at(-1) ?? "" })).length === 1);
  const details: RequestDetail[] = [];
  for (const id of ids) {
    const shown = await until(async () => {
      const answer = await fixture.as("admin", `${requests}/${id}`);
      const detail = (await answer.json()) as RequestDetail;
      return answer.status === 200 && detail.explanation !== null && detail.counted_in?.calls !== null && detail;
    });
    expect(shown.request_id).toBe(id);
    expect(shown.explanation?.refusal).toMatchObject({ code: "model_not_found" });
    expect(shown.attempts).toMatchObject([{ request_id: id, outcome: "rejected", requested_model: "no-such-model" }]);
    expect((await listed("admin", { search: id })).map((row) => row.request_id)).toEqual([id]);
    details.push(shown);
  }
  const folded = details.filter((detail) => detail.counted_in !== null);
  expect(folded.length).toBeGreaterThan(0);
  for (const { counted_in: countedIn } of folded) expect(ids).toContain(countedIn?.request_id ?? "");
  for (const { counted_in: countedIn } of folded) expect(countedIn?.calls).toBeGreaterThan(1);
  expect(stored.size).toBeLessThan(ids.length);
  // Every object inherits a member of that name.
  const inherited = folded.map(({ request_id: id }) => listed("admin", { search: id, tag: "constructor" }));
  expect((await Promise.all(inherited)).flat()).toEqual([]);
});

test("a folded request of another workspace is not found, and the message names the reasons", async () => {
  const ids = await Promise.all(Array.from({ length: 12 }, () => chat("another-missing-model")));
  const last = ids.at(-1) ?? "";
  await until(async () => (await fixture.as("admin", `${requests}/${last}`)).status === 200);
  expect(await codeOf(await fixture.as("stranger", `/api/workspaces/other/requests/${last}`))).toBe("404 not_found");
  const answer = await fixture.as("admin", `${requests}/req_none`);
  const { error } = (await answer.json()) as { error: { message: string } };
  expect(error.message).toContain("identical refusals");
});

test("exports the matching requests as CSV that a spreadsheet does not execute", async () => {
  const id = await chat("gpt-test", { "user-agent": '=cmd("x"),1', "x-sluice-tags": "team=search,feature=ask" });
  await fixture.entries();
  const path = requestsCsvPath("acme");
  const answer = await fixture.as("viewer", `${path}?tag=team%3Dsearch&user_agent=CMD`);
  expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8");
  expect(answer.headers.get("content-disposition")).toMatch(/^attachment; filename="requests-\d{4}-\d\d-\d\d\.csv"$/);
  const [head, line, ...more] = (await answer.text()).trimEnd().split("\n");
  expect(more).toEqual([]);
  expect(head).toStartWith("time,request_id,attempt_id,workspace,group,key,person,requested_model,model");
  expect(line).toContain(`,${id},`);
  expect(line).toEndWith(`,"'=cmd(""x""),1",,,team=search;feature=ask,,false`);
  const none = await fixture.as("viewer", `${path}?min_cost=5`);
  expect((await none.text()).trimEnd().split("\n")).toHaveLength(1);
});

test("the export needs the same rights as the list", async () => {
  const path = requestsCsvPath("acme");
  expect(await codeOf(await fixture.as("stranger", path))).toBe("404 not_found");
  expect(await codeOf(await fixture.as(null, path))).toBe("401 not_signed_in");
  expect(await codeOf(await fixture.as("owner", requestsCsvPath("-")))).toBe("403 forbidden");
  const person = fixture.users.owner.id;
  expect(await codeOf(await fixture.as("member", `${path}?person=${person}`))).toBe("403 forbidden");
  expect(await codeOf(await fixture.as("member", `${path}?text=hello`))).toBe("403 forbidden");
  expect(await codeOf(await fixture.as("owner", `${path}?outcome=great`))).toBe("400 invalid_request");
});

test("searching captured bodies is for admins, and adds an audit entry", async () => {
  expect(await codeOf(await fixture.as("member", `${requests}?text=hello`))).toBe("403 forbidden");
  const before = (await fixture.audit()).length;
  expect(await listed("admin", { text: "hello" })).toEqual([]);
  expect((await fixture.audit()).slice(before)).toEqual([
    { actor: "admin@example.com", action: "view", object: "captured request search" },
  ]);
});

test("a search of captured bodies that begins at a later page adds an audit entry too", async () => {
  const before = (await fixture.audit()).length;
  const cursor = Buffer.from(`${Date.now()}.`).toString("base64url");
  expect(await listed("admin", { text: "hello", cursor })).toEqual([]);
  expect((await fixture.audit()).length).toBe(before + 1);
});
