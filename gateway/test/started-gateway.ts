import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConfigFile, KeyConfig, ModelConfig, ProviderConfig, WorkspaceConfig } from "@sluice/contract";
import { type RunningSimulator, type Script, serveSimulator } from "@sluice/simulator";
import { type Environment, readEnvironment } from "#config/index.ts";
import type { Clock } from "#ports/index.ts";
import { openJournalDirectory } from "#storage/index.ts";
import { patienceMs } from "../../test/until.ts";
import { startCertificate } from "../src/main/certificate.ts";
import { openControl } from "../src/main/control.ts";
import type { Gateway } from "../src/main/gateway.ts";
import { createGateway } from "../src/main/gateway.ts";
import type { GatewayOptions } from "../src/main/gateway-options.ts";
import { openSlot } from "../src/main/open-journal.ts";
import { drainingHere } from "./draining-here.ts";
import { migratedIn } from "./migrated.ts";
import { reportingHere } from "./reporting-here.ts";
import { writingHere } from "./writing-here.ts";

/** The header with a script for the simulator. */
export const scriptHeader = "x-sim-script";

export const aliceKey = "sk-alice-0123456789abcdefghij";

export interface StartedGateway {
  readonly url: string;
  readonly gateway: Gateway;
  readonly simulator: RunningSimulator;
  readonly dataDir: string;
  readonly control: Awaited<ReturnType<typeof openControl>>;
  /** A call with Alice's key. `script` scripts the upstream. */
  chat(body: unknown, options?: ChatOptions): Promise<Response>;
  /** The same at another path. */
  post(path: string, body: unknown, options?: ChatOptions): Promise<Response>;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  /** Ledger entries, newest first, once everything settled so far is stored. */
  entries(): Promise<readonly import("#core/index.ts").LedgerEntry[]>;
  stop(): Promise<void>;
}

export interface ChatOptions {
  readonly key?: string | null;
  readonly script?: Script;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

export interface Overrides {
  readonly providers?: (simulator: RunningSimulator) => ProviderConfig[];
  readonly models?: ModelConfig[];
  readonly workspace?: Partial<WorkspaceConfig>;
  readonly moreWorkspaces?: WorkspaceConfig[];
  readonly keys?: KeyConfig[];
  readonly settings?: ConfigFile["settings"];
  readonly guardrails?: ConfigFile["guardrails"];
  readonly budgets?: ConfigFile["budgets"];
  readonly idleSeconds?: number;
  /** Writes explanations in a thread, as in production. */
  readonly explainThread?: boolean;
  /** Drains the ledger in a thread, as in production; on PostgreSQL always. */
  readonly drainThread?: boolean;
  /** Answers reports in threads, as in production; on PostgreSQL the server does. */
  readonly reportThreads?: boolean;
  /** Additional environment variables. */
  readonly environment?: Partial<Environment>;
  /** Replaces the machine's clock. */
  readonly clock?: Clock;
  readonly openSignIn?: GatewayOptions["openSignIn"];
  readonly openReports?: GatewayOptions["openReports"];
}

/** The whole gateway in this process, on a free port, with a separate data directory and a simulated upstream. */
export async function startGateway(overrides: Overrides = {}): Promise<StartedGateway> {
  const simulator = serveSimulator();
  const existing = overrides.environment?.dataDir;
  const dataDir = existing ?? mkdtempSync(join(tmpdir(), "sluice-test-"));
  const environment: Environment = {
    ...readEnvironment({
      SLUICE_DATA_DIR: dataDir,
      SLUICE_PORT: "0",
      SLUICE_LOG_LEVEL: "error",
      SLUICE_LOG_FORMAT: "json",
    }),
    ...overrides.environment,
  };
  if (environment.databaseUrl === null && !existsSync(join(environment.dataDir, "sluice.db"))) {
    await migratedIn(environment.dataDir);
  }
  const control = await openControl(environment);
  await control.controlStore.apply(configOf(simulator, overrides), "test");
  const opened = await createGateway({
    environment,
    directory:
      environment.databaseUrl === null
        ? openJournalDirectory(control.journalPath)
        : openSlot({ control, alone: false }),
    control: overrides.clock === undefined ? control : { ...control, clock: overrides.clock },
    certificate: environment.tls === null ? null : await startCertificate(environment.tls),
    version: "0.0.0-test",
    revision: "72c595dc",
    randomToken: () => "test-setup-token-0123456789",
    onFatal: (error) => {
      throw error;
    },
    ...(overrides.explainThread === true ? {} : { explainWriter: writingHere(control.database) }),
    ...(overrides.drainThread === true || environment.databaseUrl !== null
      ? {}
      : { drain: drainingHere(control.database) }),
    ...(overrides.reportThreads === true ? {} : { openReports: overrides.openReports ?? reportingHere }),
    openSignIn: overrides.openSignIn,
    ...(overrides.idleSeconds === undefined ? {} : { idleSeconds: overrides.idleSeconds }),
  });
  let closing: Promise<void> | null = null;
  const gateway: Gateway = {
    ...opened,
    close() {
      closing ??= opened.close();
      return closing;
    },
  };
  const url = `${environment.tls === null ? "http" : "https"}://127.0.0.1:${gateway.server.port}`;
  const tls = { rejectUnauthorized: false };
  const post: StartedGateway["post"] = (path, body, options = {}) =>
    fetch(`${url}${path}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(options.key === null ? {} : { authorization: `Bearer ${options.key ?? aliceKey}` }),
        ...(options.script === undefined ? {} : { [scriptHeader]: JSON.stringify(options.script) }),
        ...options.headers,
      },
      body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body),
      signal: options.signal ?? null,
      tls,
    });
  return {
    url,
    gateway,
    simulator,
    dataDir,
    control,
    chat: (body, options) => post("/v1/chat/completions", body, options),
    post,
    get: (path, headers = { authorization: `Bearer ${aliceKey}` }) => fetch(`${url}${path}`, { headers, tls }),
    async entries() {
      await gateway.journal.drained(AbortSignal.timeout(patienceMs));
      return (await control.ledgerStore.page({}, null, 1_000)).entries;
    },
    async stop() {
      await gateway.close();
      simulator.stop();
      // A folder that was passed in belongs to the caller.
      if (existing === undefined) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

export const hello = { model: "gpt-test", messages: [{ role: "user", content: "Say hello to everyone" }] };

export function configOf(simulator: RunningSimulator, overrides: Overrides): ConfigFile {
  return {
    providers: overrides.providers?.(simulator) ?? [upstream("main", simulator)],
    models: overrides.models ?? [
      {
        name: "gpt-test",
        deployments: [{ provider: "main", upstream_model: "upstream-gpt" }],
        price: { input: 1.25, cache_read: 0.125, output: 10 },
      },
    ],
    workspaces: [
      {
        slug: "acme",
        groups: [{ name: "default" }],
        keys: overrides.keys ?? [{ name: "alice", secret: aliceKey }],
        ...overrides.workspace,
      },
      ...(overrides.moreWorkspaces ?? []),
    ],
    ...(overrides.guardrails === undefined ? {} : { guardrails: overrides.guardrails }),
    ...(overrides.budgets === undefined ? {} : { budgets: overrides.budgets }),
    // Most tests are not about prices.
    settings: { drain_timeout_ms: 2_000, unpriced: "allow", ...overrides.settings },
  };
}

export function upstream(id: string, simulator: RunningSimulator, more: Partial<ProviderConfig> = {}): ProviderConfig {
  return {
    id,
    kind: "openai-compatible",
    base_url: simulator.url,
    api_key: `sk-upstream-of-${id}`,
    allow_private_network: true,
    ...more,
    settings: { forward_headers: [scriptHeader], ...more.settings },
  };
}

export async function errorOf(
  response: Response,
): Promise<{ status: number; code: string; param: string | null; message: string }> {
  const body = (await response.json()) as {
    error: { code: string; param: string | null; message: string; type: string };
  };
  return { status: response.status, code: body.error.code, param: body.error.param, message: body.error.message };
}
