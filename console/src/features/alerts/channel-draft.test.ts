import { expect, test } from "bun:test";
import type { AlertChannel } from "@sluice/contract";
import { channelBlockedBy, channelBodyOf, channelDraftOf, channelFaultsOf, emptyChannel } from "./channel-draft.ts";

const stored: AlertChannel = {
  ...{ id: "chan_1", workspace: null, name: "On call", kind: "slack", destination: "hooks.slack.com" },
  ...{ language: "en", enabled: true, created_at: 0, last: null },
};

test("an existing channel keeps its address if none is entered", () => {
  const draft = channelDraftOf(stored);
  expect(channelBlockedBy(draft)).toBeNull();
  expect(channelBodyOf(draft)).toEqual({ name: "On call", language: "en", enabled: true });
  const url = "https://hooks.slack.com/services/new";
  expect(channelBodyOf({ ...draft, url }).target).toEqual({ kind: "slack", url });
  expect(channelBlockedBy({ ...draft, kind: "teams" })).toContain("URL");
});

test("a new channel requires a name and an address of its type", () => {
  const draft = { ...emptyChannel("acme", "en"), name: "Ops" };
  expect(channelBlockedBy(draft)).toContain("email");
  expect(channelBlockedBy({ ...draft, to: ["ops@example.com"] })).toBeNull();
  expect(channelBlockedBy({ ...draft, to: ["ops"] })).not.toBeNull();
  for (const url of ["", "hooks.example.com", "javascript:alert(1)", "ftp://example.com"])
    expect(channelBlockedBy({ ...draft, kind: "webhook", url })).not.toBeNull();
  expect(channelFaultsOf({ ...draft, kind: "teams", url: "ftp://example.com" }).url).toContain("https");
  const key = { ...draft, kind: "pagerduty" as const, routingKey: "R0UTINGKEY0123456789" };
  expect(channelBodyOf(key).target).toEqual({ kind: "pagerduty", routing_key: key.routingKey, region: "us" });
  expect(channelBlockedBy({ ...key, routingKey: "a b" })).not.toBeNull();
});
