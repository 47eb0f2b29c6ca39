import { expect, test } from "bun:test";
import { bounds, Failure } from "#core/index.ts";
import type { Observer } from "#ports/index.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { policyReports } from "./policy-reports.ts";

const report = {
  "csp-report": {
    "document-uri": "https://ai.example.com/console/keys?search=secret#x",
    "effective-directive": "style-src-elem",
    "blocked-uri": "inline",
    "source-file": "https://ai.example.com/console/assets/index.js",
    "line-number": 1,
    "column-number": 42,
    "script-sample": "sk-sluice-something",
  },
};

function openReports() {
  const clock = new FakeClock();
  const logs: [string, Readonly<Record<string, unknown>>][] = [];
  const observer: Observer = {
    log: (level, message, fields = {}) => logs.push([`${level} ${message}`, fields]),
    attemptEnd: () => undefined,
    requestEnd: () => undefined,
    breakerChange: () => undefined,
    configReload: () => undefined,
  };
  const reports = policyReports({ clock, observer });
  const send = (body: unknown) =>
    reports(
      new Request("http://gateway.test/api/csp-report", {
        method: "POST",
        headers: { "content-type": "application/csp-report" },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    );
  return { clock, logs, send };
}

test("logs a content policy report as one warning without query, sample or line break", async () => {
  const { logs, send } = openReports();
  expect((await send(report)).status).toBe(204);
  expect(logs).toEqual([
    [
      "warn a browser blocked part of the console",
      {
        directive: "style-src-elem",
        blocked: "inline",
        page: "https://ai.example.com/console/keys",
        source: "https://ai.example.com/console/assets/index.js:1:42",
      },
    ],
  ]);
  await send({ "csp-report": { "violated-directive": `a\nb${"x".repeat(5_000)}` } });
  const directive = String(logs[1]?.[1]["directive"]);
  expect(directive.startsWith("a?bxxx")).toBe(true);
  expect(directive.length).toBe(bounds.policyReportWordMax);
});

test("limits the rate of logged reports", async () => {
  const { clock, logs, send } = openReports();
  for (let sent = 0; sent < bounds.policyReportsMax * 3; sent++) await send(report);
  expect(logs.length).toBe(bounds.policyReportsMax + 1);
  clock.advance(bounds.policyReportsMs);
  await send(report);
  expect(logs.length).toBe(bounds.policyReportsMax + 2);
});

test("ignores other bodies, and refuses too large ones", async () => {
  const { logs, send } = openReports();
  for (const body of [{}, [], null, { "csp-report": 7 }, { "csp-report": { "effective-directive": 1 } }]) {
    expect((await send(body)).status).toBe(204);
  }
  expect(logs).toEqual([]);
  const refused = await send(" ".repeat(bounds.controlBodyBytesMax + 1)).catch((thrown: unknown) => thrown);
  expect(refused instanceof Failure ? refused.code : refused).toBe("request_too_large");
  const garbled = await send("{").catch((thrown: unknown) => thrown);
  expect(garbled instanceof Failure ? garbled.code : garbled).toBe("invalid_json");
});
