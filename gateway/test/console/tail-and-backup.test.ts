import { afterAll, beforeAll, expect, test } from "bun:test";
import { asKeyPath, backupPath, type RequestRow, tailPath } from "@sluice/contract";
import { Failure } from "#core/index.ts";
import { until } from "../../../test/until.ts";
import { codeOf, type MediaFixture, type MediaUser, openMediaFixture } from "./media-fixture.ts";

let fixture: MediaFixture;
beforeAll(async () => {
  fixture = await openMediaFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

async function chat(who: MediaUser, workspace: string, key: string): Promise<void> {
  const answer = await fixture.as(who, `${asKeyPath(workspace, key)}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "gpt-test", messages: [{ role: "user", content: "hello" }] }),
  });
  expect(answer.status).toBe(200);
  await answer.text();
}

/** The rows of a live view, as a browser reads them. */
async function watch(who: MediaUser, workspace: string) {
  const leaving = new AbortController();
  const answer = await fixture.as(who, tailPath(workspace), { signal: leaving.signal });
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
  const reader = answer.body?.getReader();
  let text = "";
  return {
    leave: () => leaving.abort(),
    async row(): Promise<RequestRow> {
      for (;;) {
        const event = /^id: .*\ndata: (.*)\n\n/m.exec(text);
        if (event !== null) {
          text = text.slice((event.index ?? 0) + event[0].length);
          return JSON.parse(event[1] ?? "");
        }
        const piece = await reader?.read();
        if (piece === undefined || piece.done) throw new Error("the view ended");
        text += new TextDecoder().decode(piece.value);
      }
    },
  };
}

test("a viewer watches requests of their workspace end, an administrator all of them", async () => {
  const acme = await watch("viewer", "acme");
  const other = await watch("stranger", "other");
  const all = await watch("administrator", "-");
  await chat("stranger", "other", fixture.keys.others);
  await chat("member", "acme", fixture.keys.members);
  expect(await acme.row()).toMatchObject({
    workspace: { slug: "acme" },
    key: { id: fixture.keys.members, name: "key of member" },
    group: { name: "default" },
    model: "gpt-test",
    provider: "main",
    outcome: "succeeded",
    http_status: 200,
  });
  expect((await other.row()).workspace.slug).toBe("other");
  expect([(await all.row()).workspace.slug, (await all.row()).workspace.slug]).toEqual(["other", "acme"]);
  expect(fixture.tail.listeners).toBe(3);
  for (const view of [acme, other, all]) view.leave();
  await until(() => fixture.tail.listeners === 0);
});

test("a user without access to a workspace cannot watch it, and HEAD opens no view", async () => {
  expect(await codeOf(await fixture.as("stranger", tailPath("acme")))).toBe("404 not_found");
  expect(await codeOf(await fixture.as("owner", tailPath("-")))).toBe("403 forbidden");
  expect(await codeOf(await fixture.as(null, tailPath("acme")))).toBe("401 not_signed_in");
  expect((await fixture.as("viewer", tailPath("acme"), { method: "HEAD" })).status).toBe(405);
  expect(fixture.tail.listeners).toBe(0);
});

const take = (who: Parameters<MediaFixture["as"]>[0], init: RequestInit = {}) =>
  fixture.as(who, backupPath, { method: "POST", ...init });

test("a backup requires an administrator with a recent sign-in, from our own page", async () => {
  expect(await codeOf(await take("owner"))).toBe("403 forbidden");
  expect(await codeOf(await take("administrator stale"))).toBe("403 confirm_sign_in");
  expect(await codeOf(await take(null))).toBe("401 not_signed_in");
  expect(await codeOf(await take("administrator", { headers: { origin: "https://elsewhere.example" } }))).toBe(
    "403 forbidden",
  );
  const bare = await fetch(fixture.url + backupPath, {
    method: "POST",
    headers: { "x-test-session": fixture.users.administrator.id },
  });
  expect(await codeOf(bare)).toBe("403 forbidden");
  expect(fixture.backups.made).toBe(0);
});

test("a backup has a known length and an audit row, and its temporary copy is deleted", async () => {
  const answer = await take("administrator");
  expect(answer.headers.get("content-disposition")).toMatch(/^attachment; filename="sluice-2\d{3}-[\dT-]+\.sqlite"$/);
  expect([answer.headers.get("content-length"), await answer.text()]).toEqual(["16", "a whole database"]);
  expect(fixture.backups).toMatchObject({ made: 1, done: 1 });
  expect((await fixture.audit()).at(-1)).toEqual({
    actor: "administrator@example.com",
    action: "download",
    object: "backup",
  });
});

test("only one backup runs at a time, and an aborted one makes room for the next", async () => {
  fixture.backups.body = () =>
    new ReadableStream({
      pull: async (controller) => {
        controller.enqueue(new TextEncoder().encode("a"));
        await new Promise(() => undefined);
      },
    });
  const leaving = new AbortController();
  const first = await take("administrator", { signal: leaving.signal });
  expect(first.status).toBe(200);
  expect(await codeOf(await take("administrator"))).toBe("409 conflict");
  leaving.abort();
  await until(() => fixture.backups.done === 2);
  fixture.backups.body = () => {
    throw new Failure("request_timeout", "The copy took too long.");
  };
  expect(await codeOf(await take("administrator"))).toBe("408 request_timeout");
  fixture.backups.body = () => new Blob(["a whole database"]).stream();
  expect(await (await take("administrator")).text()).toBe("a whole database");
});
