import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv } from "ajv";
import { parse, parseAllDocuments } from "yaml";
import { readEnvironment } from "#config/index.ts";
import { bounds } from "#core/index.ts";
import { digestOfChart, rendered } from "../../../deploy/render-manifests.mjs";
import { deploy, deployFiles, documentsOf, root, textOf } from "./deploy-files.ts";

const [values] = documentsOf("chart/values.yaml");
const schema = JSON.parse(textOf("chart/values.schema.json"));
const isValid = new Ajv({ strict: true, allowUnionTypes: true }).compile(schema);

test("the default values match their schema, and the schema contains each of them", () => {
  expect(isValid(values), JSON.stringify(isValid.errors)).toBe(true);
  expect(
    Object.keys(schema.properties)
      .filter((name) => name !== "global")
      .sort(),
  ).toEqual(Object.keys(values).sort());
});

test.each<[string, object]>([
  ["an unknown value", { replcas: 3 }],
  ["an unknown value further down", { drain: { grace: 5 } }],
  ["no replicas", { replicas: 0 }],
  ["the same port for the console and callers", { admin: { port: 8787 } }],
  ["an invalid URL", { publicUrl: "ai.example.com" }],
  ["a grace that the gateway refuses", { drain: { graceSeconds: bounds.drainGraceMsMax / 1_000 + 1 } }],
  ["a route without a Gateway", { httpRoute: { parentRefs: [{ namespace: "gateways" }] } }],
  ["an invalid runbook URL", { prometheusRule: { runbooks: "docs/operations/prometheus-alerts.md" } }],
  ["an invalid digest", { image: { digest: "latest" } }],
])("the schema refuses %s", (_, change) => {
  expect(isValid({ ...values, ...change })).toBe(false);
});

test("templates use only existing values", () => {
  const missing = deployFiles()
    .filter((name) => name.startsWith("chart/templates/"))
    .flatMap((name) =>
      [...textOf(name).matchAll(/\.Values((?:\.\w+)+)/g)].map(([, path]) => [name, path ?? ""] as const),
    )
    .filter(([, path]) => {
      let at: unknown = values;
      for (const part of path.slice(1).split(".")) {
        if (typeof at !== "object" || at === null || !(part in at)) return true;
        at = (at as Record<string, unknown>)[part];
      }
      return false;
    });
  expect(missing).toEqual([]);
});

test("no ingress controller is assumed", () => {
  expect(values.ingress.annotations).toEqual({});
  const named = deployFiles().filter(
    (name) => /^(chart|manifests)\//.test(name) && textOf(name).includes("ingress-nginx"),
  );
  expect(named).toEqual([]);
});

describe("a released chart", () => {
  const folder = mkdtempSync(join(tmpdir(), "chart-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const chart = join(folder, "sluice");
  const script = join(root, "scripts/release-chart.mjs");

  test("has its origin and image", () => {
    const { exitCode, stderr } = Bun.spawnSync(["node", script, chart, "Acme/sluice"], { stderr: "pipe" });
    expect(exitCode, String(stderr)).toBe(0);
    const facts = parse(readFileSync(join(chart, "Chart.yaml"), "utf8"));
    expect(facts).toMatchObject({
      home: "https://github.com/Acme/sluice",
      sources: ["https://github.com/Acme/sluice"],
    });
    const icon = /\/v[^/]+\/(.+)$/.exec(facts.icon)?.[1] ?? "";
    expect(existsSync(join(root, icon)), facts.icon).toBe(true);
    expect(parse(readFileSync(join(chart, "values.yaml"), "utf8")).image.repository).toBe("ghcr.io/acme/sluice");
    const links = (text: string) => [...text.matchAll(/^ +runbook_url: "(.*)#\w+"$/gm)].map(([, link]) => link);
    const released = links(readFileSync(join(chart, "monitoring/alerts.yaml"), "utf8"));
    expect(released.length).toBe(textOf("chart/monitoring/alerts.yaml").split("- alert: ").length - 1);
    expect(new Set(released)).toEqual(
      new Set([`https://github.com/Acme/sluice/blob/v${facts.version}/docs/operations/prometheus-alerts.md`]),
    );
  });

  test("is refused without a repository", () => {
    expect(Bun.spawnSync(["node", script, chart], { stderr: "ignore" }).exitCode).toBe(2);
  });

  test.skipIf(Bun.which("helm") === null)(
    "contains the shipped rules and dashboard with complete links, for its own pods (with Helm)",
    () => {
      const words =
        "--namespace team --set secret.existingSecret=s,adminEmail=a@example.com,blobs=separate --kube-version 1.31.0";
      const on = "--set prometheusRule.enabled=true,dashboard.enabled=true,serviceMonitor.enabled=true";
      const template = (...more: string[]) =>
        Bun.spawnSync(["helm", "template", "acme", ...words.split(" "), ...on.split(" "), ...more], { stderr: "pipe" });
      const { stdout, stderr } = template(chart);
      const made = parseAllDocuments(String(stdout)).map((document) => document.toJS());
      expect(made.length, String(stderr)).toBeGreaterThan(0);
      const ofKind = (kind: string) => made.find((one) => one?.kind === kind);

      const own = JSON.stringify(ofKind("PrometheusRule").spec).replaceAll(
        'namespace=\\"team\\",job=\\"acme-sluice\\"',
        'job=\\"sluice\\"',
      );
      expect(JSON.parse(own)).toEqual(parse(readFileSync(join(chart, "monitoring/alerts.yaml"), "utf8")));
      expect(JSON.stringify(ofKind("ServiceMonitor"))).toContain('"replacement":"acme-sluice"');
      const dashboard = made.find((one) => one?.metadata.labels?.grafana_dashboard === "1");
      expect(dashboard.data["acme-sluice.json"]).toBe(textOf("chart/monitoring/dashboard.json").trimEnd());

      const checkout = template(join(deploy, "chart"));
      expect(String(checkout.stderr)).toContain("prometheusRule.runbooks must be the address");
      const wiki = template(join(deploy, "chart"), "--set", "prometheusRule.runbooks=https://wiki.example.com/a");
      expect(String(wiki.stdout)).toContain('runbook_url: "https://wiki.example.com/a#sluicedown"');
      expect(String(wiki.stdout)).not.toContain("docs/operations/prometheus-alerts.md#");
    },
  );
});

describe("the rendered manifests", () => {
  const manifests = documentsOf("manifests/sluice.yaml").filter((one) => one !== null);
  const kinds = manifests.map((one) => one.kind as string);
  const workload = manifests.find((one) => one.kind === "StatefulSet");
  const pod = workload.spec.template.spec;
  const [container] = pod.containers;
  const variables: Record<string, string> = Object.fromEntries(
    container.env.map((one: { name: string; value: string }) => [one.name, one.value]),
  );

  test("are current with the chart (else: node deploy/render-manifests.mjs)", () => {
    expect(/Chart: ([0-9a-f]{64})/.exec(textOf("manifests/sluice.yaml"))?.[1]).toBe(digestOfChart());
    if (Bun.which("helm") !== null) expect(rendered()).toBe(textOf("manifests/sluice.yaml"));
  });

  test("contain what an installation of several pods needs", () => {
    expect(kinds.sort()).toEqual(
      ["HTTPRoute", "PodDisruptionBudget", "Service", "Service", "Service", "ServiceAccount", "StatefulSet"].sort(),
    );
    expect(workload.spec.volumeClaimTemplates[0].metadata.name).toBe("data");
    expect(container.volumeMounts.map((one: { name: string }) => one.name)).toContain("data");
  });

  test("start a gateway with variables that it reads, and probe the ports it serves", () => {
    const secrets: Record<string, string> = {
      SLUICE_MASTER_KEY: "0123456789abcdef0123456789abcdef",
      SLUICE_ADMIN_PASSWORD: "correct horse battery",
      SLUICE_DATABASE_URL: "postgres://sluice:secret@db/sluice",
      SLUICE_REDIS_URL: "redis://cache",
      SLUICE_S3_ACCESS_KEY_ID: "AK",
      SLUICE_S3_SECRET_ACCESS_KEY: "SK",
    };
    for (const [name, path] of Object.entries(variables)) {
      if (!name.endsWith("_FILE")) continue;
      expect(path).toStartWith(`${mountOf("secrets")}/`);
      delete variables[name];
      const held = name.slice(0, -"_FILE".length);
      variables[held] = secrets[held] ?? "";
    }
    const environment = readEnvironment(variables);
    expect(environment.warnings).toEqual([]);
    expect(environment.bucket?.name).toBe("sluice");
    expect(environment.dataDir).toBe(mountOf("data"));
    const ports = Object.fromEntries(
      container.ports.map((one: { name: string; containerPort: number }) => [one.name, one.containerPort]),
    );
    expect(ports).toEqual({ http: environment.port, admin: environment.admin?.port });
    expect(container.startupProbe.httpGet).toEqual({ path: "/healthz", port: "http" });
    expect(container.livenessProbe.httpGet).toEqual({ path: "/healthz", port: "http" });
    expect(container.readinessProbe.httpGet).toEqual({ path: "/readyz", port: "http" });
    const { periodSeconds: every, failureThreshold: tries } = container.startupProbe;
    expect(every * tries * 1_000, "a migration would be killed and restarted").toBeGreaterThan(
      bounds.postgresMigrationMs,
    );
    // Readiness fails visibly before calls are refused.
    const { periodSeconds, failureThreshold } = container.readinessProbe;
    expect(periodSeconds * failureThreshold * 1_000).toBeLessThan(environment.drainGraceMs);
    const drainMs = values.drain.timeoutSeconds * 1_000;
    expect(pod.terminationGracePeriodSeconds * 1_000).toBeGreaterThanOrEqual(
      environment.drainGraceMs + drainMs + bounds.lastBytesMs + bounds.flushMs,
    );
  });

  test("run as a non-root user with a read-only file system, without privileges or a token", () => {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 65532, fsGroup: 65532 });
    expect(textOf("Containerfile")).toContain("USER 65532:65532");
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    expect(pod.automountServiceAccountToken).toBe(false);
    // A Service called sluice would make Kubernetes set SLUICE_PORT to a URL.
    expect(pod.enableServiceLinks).toBe(false);
  });

  test("select the pods that they create", () => {
    const labels = workload.spec.template.metadata.labels;
    for (const one of manifests) {
      const selector = one.kind === "Service" ? one.spec.selector : one.spec?.selector?.matchLabels;
      if (selector !== undefined) expect(labels).toMatchObject(selector);
    }
    const names = manifests.filter((one) => one.kind === "Service").map((one) => one.metadata.name);
    expect(names).toContain(workload.spec.serviceName);
    const route = manifests.find((one) => one.kind === "HTTPRoute");
    const [{ name, port }] = route.spec.rules[0].backendRefs;
    const service = manifests.find((one) => one.kind === "Service" && one.metadata.name === name);
    expect(service.spec.ports[0].port).toBe(port);
  });

  function mountOf(name: string): string {
    return container.volumeMounts.find((one: { name: string }) => one.name === name).mountPath;
  }
});
