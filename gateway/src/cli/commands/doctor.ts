import { Argument } from "commander";
import { EnvironmentInvalid } from "#config/index.ts";
import { messageOf } from "#core/index.ts";
import { systemClock, trustAuthorities } from "#system/index.ts";
import { type CheckContext, type Finding, fail } from "../checks/finding.ts";
import type { CliCommand } from "../cli-command.ts";
import { localAddress, requestLocal } from "../local-request.ts";
import { environmentOf } from "../open.ts";
import { CommandFailed, type Terminal } from "../terminal.ts";

export function addDoctor(program: CliCommand): void {
  const { terminal } = program;
  program
    .command("doctor")
    .description("check everything the gateway needs and suggest fixes (writes small probe objects)")
    .option("--online", "also contact the providers")
    .action(async (options: { readonly online?: boolean }, command: CliCommand) => {
      const findings = await examine(terminal, options.online === true);
      const lines = findings.map(({ check, state, detail, advice }) => {
        const line = `${state.padEnd(4)}  ${check}: ${detail}`;
        return advice === null ? line : `${line} → ${advice}`;
      });
      const failed = findings.filter(({ state }) => state === "fail").length;
      await command.report({ ok: failed === 0, findings }, lines);
      if (failed > 0) throw new CommandFailed(`${failed} of ${findings.length} checks failed`);
    });
  // For health checks of containers: images without a shell have no curl.
  program
    .command("health")
    .description("check the health of the gateway on this machine")
    .addArgument(
      new Argument("[path]", "/healthz: it answers; /readyz: it serves calls")
        .choices(["/healthz", "/readyz"])
        .default("/healthz"),
    )
    .answer(async (path: string) => {
      const environment = await environmentOf(terminal.variables);
      return [
        { ok: true, path },
        [await askHealth(`${localAddress(environment, environment.host, environment.port)}${path}`)],
      ];
    });
}

async function examine(terminal: Terminal, online: boolean): Promise<readonly Finding[]> {
  const context = await contextOf(terminal, online);
  if (!("environment" in context)) return context;
  const { everyCheck } = await import("../checks/every-check.ts");
  const { failureLine } = await import("../failure-line.ts");
  const findings: Finding[] = [];
  for (const check of everyCheck) {
    try {
      findings.push(...(await check(context)));
    } catch (thrown) {
      findings.push(fail("doctor", failureLine(thrown), "the check failed; run with SLUICE_LOG_LEVEL=debug"));
    }
  }
  return findings;
}

/** If the environment is invalid its problems are the findings. */
async function contextOf(terminal: Terminal, online: boolean): Promise<CheckContext | readonly Finding[]> {
  try {
    const { variables } = terminal;
    const environment = await environmentOf(variables);
    trustAuthorities(environment.authorities);
    return { environment, variables, clock: systemClock, online };
  } catch (thrown) {
    if (!(thrown instanceof EnvironmentInvalid)) throw thrown;
    return thrown.problems.map((problem) => fail("environment", problem, "see the table of variables in the docs"));
  }
}

async function askHealth(url: string): Promise<string> {
  let answer: Awaited<ReturnType<typeof requestLocal>>;
  try {
    answer = await requestLocal(url, { answerMs: answerMsMax, charactersMax });
  } catch (thrown) {
    throw new CommandFailed(`${url} does not answer: ${messageOf(thrown)}`);
  }
  const text = answer.text.trim();
  if (answer.status !== 200) throw new CommandFailed(`${url} answers ${answer.status}: ${text}`);
  return text;
}

const answerMsMax = 4_000;
const charactersMax = 200;
