import { afterEach, beforeEach, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AlertCondition, AlertTarget } from "@sluice/contract";
import { type AlertMessage, AlertSender } from "#alerts/index.ts";
import { createMemoryTries } from "#coordination/index.ts";
import { bounds, Secret } from "#core/index.ts";
import { createMailer } from "#mail/index.ts";
import { systemClock } from "#system/index.ts";
import { createTransport } from "#upstream/index.ts";
import { storesOn } from "../conformance/store-suites.ts";
import { openMigrated } from "../migrated.ts";
import { type AlertFixture, openAlerts } from "./alert-fixture.ts";

let alerts: AlertFixture;
let close: () => Promise<void>;
beforeEach(async () => {
  const directory = mkdtempSync(join(tmpdir(), "sluice-alerts-"));
  const database = await openMigrated(join(directory, "sluice.db"));
  const stores = storesOn(database, directory, async () => {
    await database.close();
    rmSync(directory, { recursive: true, force: true });
  });
  alerts = await openAlerts(stores);
  close = async () => await stores[Symbol.asyncDispose]();
});
afterEach(() => close());

const budget: AlertCondition = { kind: "budget", percent: [80], scope: null, scope_id: null };
/** The limits of the workspace. */
const link = () =>
  `https://sluice.example/console/limits?workspace=acme&object=${encodeURIComponent(`workspace:${alerts.acme.id}`)}`;

/** The bodies of the messages about a budget: when it opens, and when it resolves. */
async function sentTo(target: AlertTarget, name = "to the team") {
  await alerts.rule(budget, { to: target, name });
  await alerts.spend(9);
  await alerts.watch.check();
  alerts.clock.advance(86_400_000);
  await alerts.watch.check();
  return alerts.bodies();
}

const text = "acme has used $9.00 of its $10.00 daily budget (90%).";

test("a new installation has rules without a name that send to the inbox only", async () => {
  const rules = (await alerts.settings.rules()).filter(({ workspaceId }) => workspaceId === null);
  expect(rules.map(({ name, condition, channels }) => [condition.kind, name, channels.length]).toSorted()).toEqual([
    ["budget", null, 0],
    ["delivery_failure", null, 0],
    ["error_rate", null, 0],
    ["guardrail_failure", null, 0],
    ["key_request", null, 0],
    ["provider_down", null, 0],
    ["shadow", null, 0],
    ["token_expiry", null, 0],
  ]);
});

test("Slack gets blocks with a link, in which names are not parsed", async () => {
  const name = "<!channel> *bold* <https://evil.example|click> & co";
  const [opened, resolved] = await sentTo({ kind: "slack", url: "https://hooks.slack.com/services/x" }, name);
  expect(opened).toEqual({
    text,
    blocks: [
      { type: "section", text: { type: "plain_text", text: `🟠 ${text}`, emoji: false } },
      {
        type: "context",
        elements: [
          { type: "plain_text", text: `Rule: ${name}`, emoji: false },
          { type: "plain_text", text: "Workspace: acme", emoji: false },
        ],
      },
      { type: "section", text: { type: "mrkdwn", text: `<${link()}|Open in Sluice>` } },
    ],
  });
  expect(resolved.text).toBe(`Resolved: ${text}`);
});

test("the parsed fallback text of Slack has escaped names", async () => {
  const { id } = await alerts.channel({ target: { kind: "slack", url: "https://hooks.slack.com/services/x" } });
  const facts = { ...message.facts, name: "<!channel> & <@U1>" };
  await alerts.sender.send(
    { id, workspaceId: null, language: "en" },
    { ...message, facts },
    new AbortController().signal,
  );
  expect(alerts.bodies()[0].text).toStartWith("&lt;!channel&gt; &amp; &lt;@U1&gt; has used");
});

test("Teams gets an Adaptive Card with a link, in which names are not Markdown", async () => {
  const [opened] = await sentTo({ kind: "teams", url: "https://x.api.powerplatform.com/w" }, "**b** [x](https://evil)");
  expect(opened).toMatchObject({
    type: "message",
    attachments: [
      {
        contentType: "application/vnd.microsoft.card.adaptive",
        content: {
          type: "AdaptiveCard",
          version: "1.4",
          body: [
            { type: "RichTextBlock", inlines: [{ type: "TextRun", text, color: "Warning" }] },
            { type: "RichTextBlock", inlines: [{ type: "TextRun", text: "Rule: **b** [x](https://evil)" }] },
            { type: "RichTextBlock", inlines: [{ type: "TextRun", text: "Workspace: acme" }] },
          ],
          actions: [{ type: "Action.OpenUrl", title: "Open in Sluice", url: link() }],
        },
      },
    ],
  });
  expect(JSON.stringify(opened)).not.toContain('"TextBlock"');
});

test("PagerDuty gets a trigger and a resolve with the same key", async () => {
  const routing_key = "R0UTINGKEY0123456789";
  const [opened, resolved] = await sentTo({ kind: "pagerduty", routing_key, region: "eu" });
  expect(alerts.sent.map(({ url }) => url)).toEqual(Array(2).fill("https://events.eu.pagerduty.com/v2/enqueue"));
  expect(opened).toMatchObject({
    ...{ routing_key, event_action: "trigger", client: "Sluice", links: [{ href: link(), text: "Open in Sluice" }] },
    payload: { summary: text, source: "acme", severity: "warning", class: "budget", custom_details: { used_usd: 9 } },
  });
  expect(resolved).toEqual({ routing_key, event_action: "resolve", dedup_key: opened.dedup_key });
});

test("a webhook is signed as a Standard Webhook and never sent into the private network", async () => {
  const [opened] = await sentTo({ kind: "webhook", url: "https://hooks.example.com/secret-path" });
  expect(opened).toMatchObject({
    ...{ type: "alert.opened", text, content: text, allowed_mentions: { parse: [] } },
    data: { kind: "budget", severity: "warning", workspace: "acme", rule: "to the team", url: link() },
  });
  const [request] = alerts.sent;
  expect([request?.allowPrivateNetwork, request?.webhook]).toEqual([false, true]);
  const { "webhook-id": id, "webhook-timestamp": at, "webhook-signature": signature } = request?.headers ?? {};
  const body = new TextDecoder().decode(request?.body as Uint8Array);
  const expected = createHmac("sha256", "secret of the workspace").update(`${id}.${at}.${body}`).digest("base64");
  expect(signature).toBe(`v1,${expected}`);
});

test("mail is in the language of its recipients, with both texts if they differ", async () => {
  const person = (email: string, language: string | null) => ({
    ...{ id: email, email, name: email, email_verified: 0, image: null, language, two_factor_enabled: 0 },
    ...{ administrator: 0, disabled: 0, last_seen_at: null },
    ...{ created_at: new Date(0).toISOString(), updated_at: new Date(0).toISOString() },
  });
  await alerts.database.kysely
    .insertInto("auth_users")
    .values([person("li@example.com", "zh-CN"), person("ada@example.com", "en")])
    .execute();
  const send = async (...to: string[]) => {
    const { id } = await alerts.channel({ target: { kind: "email", to } });
    const channel = { id, workspaceId: null, language: "en" } as const;
    expect(await alerts.sender.send(channel, message, new AbortController().signal)).toBeNull();
    return alerts.mails.at(-1);
  };
  const chinese = "acme/ci 的每日预算 $10.00 已使用 $79.40（794%）。";
  const english = "acme/ci has used $79.40 of its $10.00 daily budget (794%).";
  expect(await send("Li@example.com")).toMatchObject({ subject: `Sluice: ${chinese}` });
  const stranger = await send("ops@example.com");
  expect(stranger).toMatchObject({ to: ["ops@example.com"], subject: `Sluice: ${english}` });
  expect(stranger?.text).toContain("Open in Sluice: https://sluice.example/console/x");
  const both = (await send("ada@example.com", "li@example.com"))?.text;
  expect(both).toContain(english);
  expect(both).toContain(chinese);
});

test("a message about a rule of the installation without a name has no lines about its source", async () => {
  const unnamed = { ...message, ruleName: null, workspace: null };
  const send = async (target: AlertTarget) => {
    const { id } = await alerts.channel({ target });
    const channel = { id, workspaceId: null, language: "en" } as const;
    expect(await alerts.sender.send(channel, unnamed, new AbortController().signal)).toBeNull();
  };
  await send({ kind: "slack", url: "https://hooks.slack.com/services/x" });
  const [{ blocks }] = alerts.bodies() as [{ blocks: { type: string }[] }];
  expect(blocks.map(({ type }) => type)).toEqual(["section", "section"]);
  await send({ kind: "email", to: ["ops@example.com"] });
  expect(alerts.mails.at(-1)?.text.split("\n").slice(1)).toEqual([
    "",
    "Open in Sluice: https://sluice.example/console/x",
    "",
  ]);
});

test("a name with line breaks adds no header or line to a mail, and long names are cut", async () => {
  const { id } = await alerts.channel({ target: { kind: "email", to: ["ops@example.com"] } });
  const facts = { ...message.facts, name: `x\r\nBcc: evil@example.com\u2028${"long ".repeat(500)}` };
  const channel = { id, workspaceId: null, language: "en" } as const;
  await alerts.sender.send(channel, { ...message, facts, ruleName: "a\nb" }, new AbortController().signal);
  const [mail] = alerts.mails;
  expect(mail?.subject).not.toMatch(/[\r\n\u2028]/);
  expect(mail?.subject.length).toBeLessThanOrEqual(200);
  expect(mail?.text.split("\n")).not.toContain("Bcc: evil@example.com");
  expect(mail?.text).toContain("Rule: a b");
});

test("limits the mails that a workspace can send per hour", async () => {
  const { id } = await alerts.channel({ target: { kind: "email", to: ["ops@example.com"] } });
  const send = (workspaceId: string | null) =>
    alerts.sender.send({ id, workspaceId, language: "en" }, message, new AbortController().signal);
  for (let n = 0; n < bounds.alertMailsMax; n++) expect(await send(alerts.acme.id)).toBeNull();
  const sent = alerts.mails.length;
  expect(await send(alerts.acme.id)).toBe("Too many emails were sent from this workspace within an hour.");
  expect(alerts.mails).toHaveLength(sent);
  expect([await send(alerts.other.id), await send(null)]).toEqual([null, null]);
  alerts.clock.advance(bounds.mailWindowMs);
  expect(await send(alerts.acme.id)).toBeNull();
});

test("the error does not distinguish a private address from a missing or rejecting host, and contains no URL", async () => {
  const transport = createTransport({
    clock: systemClock,
    resolve: async (name) => {
      if (name === "nowhere.example") throw new Error("ENOTFOUND");
      return [name === "inside.example" ? "10.11.12.13" : "169.254.169.254"];
    },
  });
  const sender = new AlertSender({
    ...{ settings: alerts.settings, transport, clock: systemClock, openTries: createMemoryTries(systemClock) },
    webhookSecrets: () => ["whsec_eA=="],
    mailer: createMailer({ url: new Secret("smtp://127.0.0.1:1"), from: "sluice@example.com" }),
  });
  const errors = new Set<string | null>();
  for (const host of ["inside.example", "cloud.example", "nowhere.example", "127.0.0.1:1", "[::1]:1"]) {
    for (const kind of ["webhook", "slack", "teams"] as const) {
      const { id } = await alerts.channel({ target: { kind, url: `https://${host}/secret-path` } });
      errors.add(await sender.send({ id, workspaceId: null, language: "en" }, message, new AbortController().signal));
    }
  }
  expect([...errors]).toEqual(["The address could not be reached, or is not public."]);
});

const message: AlertMessage = {
  ...{ id: "msg_1", alertId: "alert_1", event: "opened", kind: "budget", severity: "critical", at: 0 },
  facts: { scope: "key", name: "acme/ci", period: "day", used_usd: 79.4, limit_usd: 10, percent: 794 },
  product: "Sluice",
  ...{ ruleName: "r", workspace: "acme", url: "https://sluice.example/console/x" },
};

test("mails name the product as the installation does", async () => {
  const { id } = await alerts.channel({ target: { kind: "email", to: ["ops@example.com"] } });
  const channel = { id, workspaceId: null, language: "en" } as const;
  await alerts.sender.send(channel, { ...message, product: "Acme AI" }, new AbortController().signal);
  const mail = alerts.mails.at(-1);
  expect(mail?.subject).toStartWith("Acme AI: ");
  expect(mail?.text).toContain("Open in Acme AI: ");
});
