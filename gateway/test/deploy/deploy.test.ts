import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { runCli } from "#cli/program.ts";
import { createTerminal } from "#cli/terminal.ts";
import { readEnvironment, secretNames } from "#config/index.ts";
import { bounds } from "#core/index.ts";
import { providerKinds } from "#providers/index.ts";
import { shippedPackages } from "../../../scripts/built-program.mjs";
import runtimeEnvironment from "../../../scripts/runtime-environment.json" with { type: "json" };
import { deploy, deployFiles, documentsOf, durationMs, imageVariables, root, textOf } from "./deploy-files.ts";

/** The longest stop: the grace period, the default drain, last bytes, and storing the journal. */
const drainTimeoutMs = 120_000;
const stopMs = bounds.drainGraceMs + drainTimeoutMs + bounds.lastBytesMs + bounds.flushMs;

const [compose] = documentsOf("compose.yaml");
const [small] = documentsOf("compose.small.yaml");
const gateways = ["gateway-1", "gateway-2", "gateway-3"];
const environmentSource = ["environment.ts", "environment-values.ts"]
  .map((file) => readFileSync(join(root, "gateway/src/config", file), "utf8"))
  .join("\n");

test("deploy/ sets only variables that the gateway reads", () => {
  const readable = new Set([
    ...[...environmentSource.matchAll(/"(SLUICE_[A-Z0-9_]+)"/g)].map(([, name]) => name),
    ...secretNames.map((name) => `${name}_FILE`),
    ...providerKinds.map(({ envKey }) => envKey),
    ...Object.keys(runtimeEnvironment),
  ]);
  // Compose's own variables: the image, and where it listens.
  for (const name of ["SLUICE_IMAGE", "SLUICE_LISTEN"]) readable.add(name);
  const named = deployFiles().flatMap((file) =>
    [...textOf(file).matchAll(/\b(SLUICE_[A-Z0-9_]+|[A-Z]+_API_KEY)\b/g)].map(([, name]) => `${file}: ${name}`),
  );
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((one) => !readable.has(one.split(": ")[1] ?? ""))).toEqual([]);
});

test.each([
  ["compose.yaml", compose.volumes, () => gateways.map((name) => compose.services[name])],
  ["compose.small.yaml", small.volumes, () => [small.services.gateway]],
])(
  "the gateways of %s start with their settings, run as a non-root user on a read-only file system, and have time to drain",
  (_, volumes, of) => {
    for (const service of of()) {
      const settings = Object.entries<string>(service.environment);
      // As Compose resolves them: the default after `:-`, a URL, and the contents of the secrets.
      const variables = Object.fromEntries(
        settings.map(([name, value]) => [
          name,
          value.replace(/\$\{[A-Z_]+:-?([^}]*)\}/g, (__, other: string) => other).replace(/^\?.*/, "ada@example.com"),
        ]),
      );
      for (const [name] of settings.filter(([name]) => name.endsWith("_FILE"))) {
        const secret = variables[name]?.replace("/run/secrets/", "") ?? "";
        expect(service.secrets).toContain(secret);
        delete variables[name];
        variables[name.slice(0, -"_FILE".length)] = secretSamples[secret] ?? "";
      }
      const environment = readEnvironment({ ...imageVariables(), ...variables });
      expect(environment.warnings).toEqual([]);
      expect(environment.host).toBe("0.0.0.0");
      expect(environment.administrator).not.toBeNull();
      expect(environment.masterKey).not.toBeNull();
      expect(service.read_only).toBe(true);
      expect(service.cap_drop).toEqual(["ALL"]);
      expect(service.security_opt).toEqual(["no-new-privileges:true"]);
      const mounts = service.volumes.map((volume: string) => volume.split(":"));
      expect(mounts.map(([, place]: string[]) => place)).toContain(environment.dataDir);
      for (const [volume] of mounts) expect(Object.keys(volumes)).toContain(volume);
      expect(service.healthcheck.test.at(-1)).toBe("/readyz");
      expect(durationMs(service.stop_grace_period)).toBeGreaterThanOrEqual(stopMs);
      expect(service.build.dockerfile).toBe("deploy/Containerfile");
      expect(existsSync(join(deploy, service.build.context, service.build.dockerfile))).toBe(true);
    }
  },
);

const secretSamples: Readonly<Record<string, string>> = {
  "master-key": "0123456789abcdef0123456789abcdef",
  "admin-password": "correct horse battery",
  "database-url": "postgres://sluice:secret@postgres:5432/sluice?sslmode=disable",
  "redis-url": "redis://:secret@redis:6379",
};

test("the gateways of compose.yaml have separate journals and a shared blob folder", () => {
  const places = gateways.flatMap((name) => compose.services[name].volumes as string[]);
  const at = (place: string) => places.filter((volume) => volume.endsWith(`:${place}`));
  expect(new Set(at("/var/lib/sluice")).size).toBe(gateways.length);
  expect(at("/var/lib/sluice/blobs").length).toBe(gateways.length);
  expect(new Set(at("/var/lib/sluice/blobs")).size).toBe(1);
  expect(textOf("Containerfile")).toContain("mkdir -p /empty/blobs");
});

test("compose.yaml waits for healthy servers, names what it uses, and exposes only nginx", () => {
  for (const [name, service] of Object.entries<{ [member: string]: never }>(compose.services)) {
    for (const other of Object.keys(service["depends_on"] ?? {})) {
      expect(compose.services[other]?.healthcheck, `${name} waits for ${other}`).toBeDefined();
    }
    for (const secret of service["secrets"] ?? []) expect(Object.keys(compose.secrets)).toContain(secret);
    for (const network of service["networks"] ?? []) expect(Object.keys(compose.networks)).toContain(network);
    expect(service["ports"] === undefined, `${name} has ports`).toBe(name !== "nginx");
  }
  expect(compose.networks.inside.internal).toBe(true);
  for (const server of ["postgres", "redis"]) expect(compose.services[server].networks).toEqual(["inside"]);
  // Each gateway uses pools for writing, reading and reports, and five single connections; plus a third for commands
  // and people.
  const connections = Number(/max_connections=(\d+)/.exec(compose.services.postgres.command.join(" "))?.[1]);
  expect(connections).toBeGreaterThanOrEqual((4 / 3) * gateways.length * (3 * bounds.postgresPoolSize + 6));
});

test("compose files use the secrets that make-secrets.mjs creates", () => {
  const made = [...textOf("make-secrets.mjs").matchAll(/keepOrCreate\("([a-z-]+)"/g)].map(([, name]) => name).sort();
  expect(Object.keys(compose.secrets).sort()).toEqual(made as string[]);
  for (const [name, { file }] of Object.entries<{ file: string }>({ ...compose.secrets, ...small.secrets })) {
    expect(file).toBe(`./secrets/${name}`);
  }
  expect(readFileSync(join(root, ".gitignore"), "utf8")).toContain("/deploy/secrets/\n");
});

test("nginx lists the gateways of compose.yaml, accepts the same bodies, and waits as long as they do", () => {
  const config = textOf("nginx.conf");
  const servers = [...config.matchAll(/server (\S+):(\d+) resolve/g)];
  expect(servers.map(([, host]) => host)).toEqual(gateways);
  expect(new Set(servers.map(([, , port]) => port))).toEqual(new Set([imageVariables()["SLUICE_PORT"]]));
  expect(mebibytes(/client_max_body_size (\d+)m;/.exec(config)?.[1])).toBe(bounds.requestBodyBytesMax);
  expect(config).toContain("proxy_buffering off;");
  expect(config).toContain('proxy_set_header Forwarded "";');
  expect(config).toContain("proxy_set_header X-Forwarded-For $remote_addr;");
  // A sent request is not resent, and a vendor's outage removes no gateway.
  for (const [, words] of config.matchAll(/proxy_next_upstream ([^;]+);/g)) expect(words).toBe("error timeout");
  // Idle connections to a stopping gateway end before its port closes.
  const idleTimeout = /keepalive_timeout (\d+s);\s*\}/.exec(config.slice(config.indexOf("upstream sluice")))?.[1] ?? "";
  expect(durationMs(idleTimeout)).toBeGreaterThan(0);
  expect(durationMs(idleTimeout)).toBeLessThan(bounds.drainGraceMs);
  expect(durationMs(/proxy_read_timeout (\d+s);/.exec(config)?.[1] ?? "")).toBeGreaterThan(600_000);
  expect(compose.services.nginx.ports[0]).toEndWith(`:${/listen (\d+);/.exec(config)?.[1]}`);
});

function mebibytes(count: string | undefined): number {
  return Number(count) * 1024 * 1024;
}

test.each(["haproxy.cfg", "Caddyfile", "envoy.yaml"])(
  "%s lists the gateways of compose.yaml, checks their readiness, and waits as long as they do",
  (name) => {
    const config = textOf(`proxies/${name}`);
    for (const gateway of gateways) expect(config).toContain(gateway);
    for (const path of ["/readyz", "/metrics"]) expect(config).toContain(path);
    expect(config).toContain("660s");
    expect(config.toLowerCase()).toContain("forwarded");
    if (name === "envoy.yaml") {
      expect(documentsOf(`proxies/${name}`)).toHaveLength(1);
      // By default, Envoy checks an idle gateway once a minute, and allows 1,024 calls and three retries.
      for (const word of ["no_traffic_interval: 1s", "max_requests: 100000", "max_retries: 1000"])
        expect(config).toContain(word);
    }
  },
);

test("the Containerfile copies existing files, starts the CLI as a non-root user, and sets the variables of npm start", () => {
  const file = textOf("Containerfile");
  for (const [, words] of file.matchAll(/^COPY (?!--from)(.+)$/gm)) {
    for (const source of (words ?? "").split(/\s+/).slice(0, -1)) {
      expect(existsSync(join(root, source)), source).toBe(true);
      expect(isSent(source), `${source} is left out by .dockerignore`).toBe(true);
    }
  }
  expect(imageVariables()).toMatchObject(runtimeEnvironment);
  expect(file).toMatch(/^USER \d+:\d+$/m);
  // Files outside its folder that the console's build reads.
  const { extends: base } = JSON.parse(readFileSync(join(root, "console/tsconfig.json"), "utf8")) as {
    extends: string;
  };
  expect(file).toMatch(new RegExp(`^COPY .*\\b${base.replace("../", "")} `, "m"));
  const program = "/usr/local/bin/sluice";
  expect(file).toContain(`COPY --from=build /built/sluice ${program}\n`);
  expect(file).toContain(`\nENTRYPOINT ["${program}"]\nCMD ["serve"]\n`);
  expect(file).toContain(`CMD ["${program}", "health"]`);
  for (const { healthcheck } of [compose.services["gateway-1"], small.services.gateway]) {
    expect(healthcheck.test).toEqual(["CMD", program, "health", "/readyz"]);
    expect(Number.parseInt(healthcheck.start_period, 10) * 1_000).toBeGreaterThan(bounds.postgresMigrationMs);
  }
  for (const script of ["build-binary", "built-program", "build-console", "install"]) {
    expect(isSent(`scripts/${script}.mjs`), script).toBe(true);
  }
  // npm needs the manifest of each workspace to accept the lockfile.
  const { workspaces } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { workspaces: string[] };
  for (const workspace of workspaces) expect(file).toContain(`COPY ${workspace}/package.json ${workspace}/`);
});

/** Whether a file of the repository is in the build context. */
function isSent(path: string): boolean {
  const lines = readFileSync(join(root, ".dockerignore"), "utf8").split("\n");
  return lines.some(
    (line) => line.startsWith(`!${path}`) || (line.endsWith("/**") && path.startsWith(line.slice(1, -3))),
  );
}

test("the image's health check exits with 0 for a healthy gateway, and with 1 and the reason otherwise", async () => {
  let status = 200;
  const server = Bun.serve({
    idleTimeout: 0,
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) => new Response(new URL(url).pathname, { status }),
  });
  const check = async (...args: readonly string[]) => {
    let text = "";
    const tell = (line: string): void => {
      text += line;
    };
    const variables = { SLUICE_PORT: String(server.port), SLUICE_HOST: "0.0.0.0" };
    const terminal = { variables, interactive: false, print: tell, printError: tell };
    const code = await runCli(["health", ...args], {
      ...createTerminal(variables),
      ...terminal,
      write: async (line) => tell(line),
    });
    return { code, text };
  };
  expect(await check()).toEqual({ code: 0, text: "/healthz\n" });
  expect(await check("/metrics")).toMatchObject({ code: 2 });
  // The health check ignores a proxy in the environment.
  const before = process.env["HTTP_PROXY"] ?? "";
  process.env["HTTP_PROXY"] = "http://127.0.0.1:1";
  try {
    expect(await check()).toMatchObject({ code: 0 });
  } finally {
    process.env["HTTP_PROXY"] = before;
  }
  status = 503;
  const url = `http://127.0.0.1:${server.port}/readyz`;
  expect(await check("/readyz")).toEqual({ code: 1, text: `sluice: ${url} answers 503: /readyz` });
  await server.stop(true);
  expect(await check()).toMatchObject({ code: 1, text: expect.stringContaining("does not answer") });
});

test("the systemd unit allows the drain enough time, sets the variables of npm start, and starts the CLI", () => {
  const unit = textOf("sluice.service");
  expect(durationMs(/^TimeoutStopSec=(.+)$/m.exec(unit)?.[1] ?? "")).toBeGreaterThanOrEqual(stopMs);
  const set = Object.fromEntries(
    [...unit.matchAll(/^Environment=(.+)$/gm)].flatMap(([, line]) =>
      (line ?? "").split(" ").map((one) => one.split("=")),
    ),
  );
  expect(set).toMatchObject(runtimeEnvironment);
  expect(unit).toContain("\nExecStart=/usr/local/bin/sluice serve\n");
});

test("a release selects its files by name, and the placeholder version is not the default anywhere", () => {
  const { jobs } = parse(readFileSync(join(root, ".github/workflows/release.yml"), "utf8"));
  const steps: readonly { uses?: string; run?: string; with?: Record<string, string>; env?: Record<string, string> }[] =
    Object.values<{ steps: [] }>(jobs).flatMap((job) => job.steps);
  const uploaded = steps.flatMap(({ uses, with: inputs }) =>
    uses?.startsWith("actions/upload-artifact") === true ? [String(inputs?.["name"]).replace(/\$.*/, "linux")] : [],
  );
  const download = steps.findLast(({ uses }) => uses?.startsWith("actions/download-artifact"));
  const pattern = new Bun.Glob(download?.with?.["pattern"] ?? "**");
  expect(uploaded.filter((name) => !pattern.match(name))).toEqual([]);
  // Building the image uploads a record as an artifact that is no archive; downloading it fails the release.
  expect(pattern.match("acme~sluice~A1B2C3.dockerbuild")).toBe(false);
  for (const [words, option] of [
    ["npm publish", "--tag"],
    ["gh release create", "--prerelease"],
  ] as const) {
    const step = steps.find(({ run }) => run?.startsWith(words));
    expect(`${step?.run} ${Object.values(step?.env ?? {}).join(" ")}`).toContain(option);
  }
});

test("the bill of materials lists what the console's page contains, and no test-only package", () => {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const shipped = shippedPackages(packages);
  for (const name of ["react", "hono", "kysely"]) expect(shipped).toContain(`node_modules/${name}`);
  for (const name of ["typescript", "ai", "knip"]) expect(shipped).not.toContain(`node_modules/${name}`);
  expect(readFileSync(join(root, ".github/workflows/release.yml"), "utf8")).toContain("scripts/write-sbom.mjs dist");
});

test("documents name only existing files of deploy/", () => {
  const missing: string[] = [];
  for (const folder of ["docs", "."]) {
    for (const name of readdirSync(join(root, folder)).filter((one) => one.endsWith(".md"))) {
      const text = readFileSync(join(root, folder, name), "utf8");
      for (const [, path] of text.matchAll(/\b(deploy\/[\w./-]*\w)/g)) {
        if (!existsSync(join(root, path ?? "")) && !/^deploy\/(secrets|\.env)/.test(path ?? ""))
          missing.push(`${name}: ${path}`);
      }
    }
  }
  expect(missing).toEqual([]);
});
