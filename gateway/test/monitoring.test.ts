import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { hello, type StartedGateway, startGateway } from "./started-gateway.ts";
import { dashboardFile, dashboardText, ofProvider } from "./write-dashboard.ts";

const root = join(import.meta.dir, "../..");
const alertsText = readFileSync(join(root, "deploy/chart/monitoring/alerts.yaml"), "utf8");

const alertTests = ["alerts.test.yaml", "days.test.yaml"];
const alertTestsTexts = alertTests.map((name) => readFileSync(join(root, "deploy/chart/monitoring", name), "utf8"));

interface AlertTests {
  readonly alert_rule_test?: readonly { readonly alertname: string; readonly exp_alerts: readonly unknown[] }[];
}

interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly annotations?: { readonly summary: string; readonly runbook_url: string };
}

const { groups } = parse(alertsText) as { groups: readonly { rules: readonly Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const queries = [
  ...rules.map(({ expr }) => expr),
  ...[...dashboardText().matchAll(/"expr": ("(?:[^"\\]|\\.)*")/g)].map(
    ([, text]) => JSON.parse(text ?? '""') as string,
  ),
];

/** Series from Prometheus itself. */
const targetLabels = ["cluster", "namespace", "job", "instance"];

/** Metrics that exist only with Redis, workers, TLS, a collector, a config file, or metrics by workspace. */
const elsewhere = /^sluice_(?:redis|workers|workspace|tls|otlp|agent|config_file)/;

let gateway: StartedGateway;
let exposed: ReadonlySet<string>;
beforeAll(async () => {
  gateway = await startGateway();
  await gateway.chat(hello);
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  exposed = new Set([...text.matchAll(/^# TYPE (sluice_\w+) /gm)].map(([, name]) => name ?? ""));
});
afterAll(() => gateway?.stop());

/** Metric and labels, from the table in docs/operations/monitoring.md. */
function described(): ReadonlyMap<string, ReadonlySet<string>> {
  const text = readFileSync(join(root, "docs/operations/monitoring.md"), "utf8");
  const table = text.slice(text.indexOf("## Metrics"), text.indexOf("## The log"));
  const all = new Map<string, ReadonlySet<string>>();
  for (const [, names = "", labels = ""] of table.matchAll(/^\| (`sluice_[^|]+) \| ([^|]+) \|/gm)) {
    const each = new Set(labels.trim() === "–" ? [] : labels.split(",").map((label) => label.trim()));
    for (const [, name = ""] of names.matchAll(/`(\w+)`/g)) all.set(name, each);
  }
  return all;
}

test("the documented metrics are exactly those of /metrics", () => {
  const written = [...described().keys()].filter((name) => !elsewhere.test(name));
  expect(written.toSorted()).toEqual([...exposed].filter((name) => !elsewhere.test(name)).toSorted());
});

test("metrics that need Redis, workers, TLS, a collector, a config file or metrics by workspace are documented under the name in the source", () => {
  const source = [...new Bun.Glob("**/*.ts").scanSync(join(root, "gateway/src"))]
    .filter((name) => !name.endsWith(".test.ts"))
    .map((name) => readFileSync(join(root, "gateway/src", name), "utf8"))
    .join("\n");
  const named = new Set(
    [
      ...source.matchAll(
        /["\s(]((?:sluice_redis|sluice_workers|sluice_workspace|sluice_tls|sluice_otlp|sluice_agent|sluice_config_file)\w*)\b["\s:,]/g,
      ),
    ].map(([, name]) => name),
  );
  const written = [...described().keys()].filter((name) => elsewhere.test(name));
  expect(written.toSorted()).toEqual([...named].map(String).toSorted());
});

test("reports the size and free space of the data directory's disk", async () => {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  const [free = 0, size = 0] = ["free", "size"].map((what) =>
    Number(new RegExp(`^sluice_data_${what}_bytes (\\S+)$`, "m").exec(text)?.[1]),
  );
  expect(free).toBeGreaterThan(0);
  expect(size).toBeGreaterThanOrEqual(free);
});

test("no alert counts a caller's mistake or the gateway's own error against a provider", () => {
  const failing = rules.find(({ alert }) => alert === "SluiceUpstreamFailing")?.expr ?? "";
  const selectors = [...failing.matchAll(/sluice_attempts_total\{[^}]*\}/g)].map(([selector]) => selector);
  expect(selectors.length).toBeGreaterThan(0);
  expect(selectors.filter((selector) => !selector.includes(ofProvider))).toEqual([]);
});

test("alerts and dashboard use existing metrics and labels", () => {
  const documented = described();
  for (const query of queries) {
    for (const [, name = "", matchers = ""] of query.matchAll(/(?<![:\w])(sluice_\w+)(?:\{([^}]*)\})?/g)) {
      const labels = documented.get(name.replace(/_bucket$/, ""));
      expect(labels, `${name} in ${query}`).toBeDefined();
      for (const [, label = ""] of matchers.matchAll(/(\w+)(?:=|!=|=~|!~)"/g))
        expect([...(labels ?? []), ...targetLabels]).toContain(label);
    }
    const grouped = [...query.matchAll(/by \(([^)]*)\)/g)].flatMap(([, names = ""]) =>
      names.split(",").map((name) => name.trim()),
    );
    const possible = new Set(["le", ...targetLabels, ...[...documented.values()].flatMap((labels) => [...labels])]);
    for (const label of grouped) expect([...possible]).toContain(label);
  }
});

test("rules select the job's series only, and keep installations separate", () => {
  for (const { expr } of rules) {
    for (const [series] of expr.matchAll(/(?<!\w)(?:sluice[_:][\w:]+|up\b)(?:\{[^}]*\})?/g))
      expect(series, expr).toMatch(/\{job="sluice"[,}]/);
    for (const [, by = ""] of expr.matchAll(/\b(?:sum|max|min|count|avg|group)\b(?: by \(([^)]*)\))?/g))
      expect(by, expr).toStartWith("cluster, namespace, job");
  }
});

test("the dashboard shows what its variables select", () => {
  const expressions = [...dashboardText().matchAll(/"expr": ("(?:[^"\\]|\\.)*")/g)].map(([, text]) =>
    JSON.parse(text ?? '""'),
  );
  expect(expressions.length).toBeGreaterThan(0);
  for (const query of expressions) {
    for (const [series] of query.matchAll(/\b(?:(?:sluice|process)_\w+|up)\b(?:\{[^}]*\})?/g))
      expect(series).toContain('{namespace=~"$namespace",job=~"$job",instance=~"$instance"');
  }
});

test("recorded series exist and are used", () => {
  const recorded = rules.flatMap(({ record }) => (record === undefined ? [] : [record]));
  const used = new Set(queries.flatMap((query) => [...query.matchAll(/sluice(?::\w+)+/g)].map(([name]) => name)));
  expect([...used].toSorted()).toEqual(recorded.toSorted());
});

test("every alert has a section in the alerts document, and vice versa", () => {
  const text = readFileSync(join(root, "docs/operations/prometheus-alerts.md"), "utf8");
  const parts = [...text.matchAll(/^## (Sluice\w+)$/gm)].map(([, name = ""]) => name.toLowerCase());
  const links = rules.flatMap(({ alert, annotations }) =>
    alert === undefined ? [] : [new URL(annotations?.runbook_url ?? alert)],
  );
  expect(new Set(links.map(({ origin, pathname }) => origin + pathname))).toEqual(
    new Set(["https://sluice.example/docs/operations/prometheus-alerts.md"]),
  );
  expect([...new Set(links.map(({ hash }) => hash.slice(1)))].toSorted()).toEqual(parts.toSorted());
});

test("every alert fires for its test series", () => {
  const cases = alertTestsTexts
    .flatMap((text) => parse(text).tests as readonly AlertTests[])
    .flatMap((each) => each.alert_rule_test ?? []);
  const fired = new Set(cases.filter((each) => each.exp_alerts.length > 0).map(({ alertname }) => alertname));
  const alerts = rules.flatMap(({ alert }) => (alert === undefined ? [] : [alert]));
  expect([...fired].toSorted()).toEqual(alerts.toSorted());
});

const promtool = Bun.which("promtool");

test.skipIf(promtool === null)(
  `promtool accepts the rules, fires each alert exactly when expected, and accepts /metrics${promtool === null ? " (no promtool is installed on this machine)" : ""}`,
  async () => {
    const folder = join(root, "deploy/chart/monitoring");
    const runPromtool = (...words: string[]) =>
      Bun.spawnSync([promtool ?? "", ...words], { cwd: folder, stderr: "pipe", timeout: 100_000 });
    for (const words of [
      ["check", "rules", "alerts.yaml"],
      ["test", "rules", ...alertTests],
    ]) {
      const { exitCode, stdout, stderr } = runPromtool(...words);
      expect(exitCode, `${stdout}${stderr}`).toBe(0);
    }
    const text = await (await fetch(`${gateway.url}/metrics`)).bytes();
    const { exitCode, stdout, stderr } = Bun.spawnSync([promtool ?? "", "check", "metrics"], {
      stdin: text,
      stderr: "pipe",
    });
    expect(exitCode, `${stdout}${stderr}`).toBe(0);
  },
);

test("the dashboard is current with its generator", () => {
  expect(JSON.parse(readFileSync(dashboardFile, "utf8"))).toEqual(JSON.parse(dashboardText()));
});
