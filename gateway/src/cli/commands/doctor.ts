import { Argument } from "commander";
import { EnvironmentInvalid } from "#config/index.ts";
import { systemClock, trustAuthorities } from "#system/index.ts";
import { askStraight, ownAddress } from "../ask-straight.ts";
import { type Finding, fail, type Ground } from "../checks/finding.ts";
import type { CliCommand } from "../cli-command.ts";
import { environmentOf } from "../open.ts";
import { CommandFailed, type Terminal } from "../terminal.ts";

export function addDoctor(program: CliCommand): void {
  const { terminal } = program;
  program
    .command("doctor")
    .description(
      "look at everything the gateway needs and say what to do; nothing is changed (probes are written, and removed where they can be)",
    )
    .option("--online", "ask the providers too")
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
  // For supervisors that ask by a program, as containers do: an image without a shell has no curl.
  program
    .command("health")
    .description("ask the gateway on this machine whether it is well")
    .addArgument(
      new Argument("[path]", "/healthz: it answers; /readyz: it takes calls")
        .choices(["/healthz", "/readyz"])
        .default("/healthz"),
    )
    .answer(async (path: string) => {
      const environment = await environmentOf(terminal.variables);
      return [
        { ok: true, path },
        [await askHealth(`${ownAddress(environment, environment.host, environment.port)}${path}`)],
      ];
    });
}

async function examine(terminal: Terminal, online: boolean): Promise<readonly Finding[]> {
  const ground = await groundOf(terminal, online);
  if (!("environment" in ground)) return ground;
  const { everyCheck } = await import("../checks/every-check.ts");
  const { failureLine } = await import("../failure-line.ts");
  const findings: Finding[] = [];
  for (const check of everyCheck) {
    try {
      findings.push(...(await check(ground)));
    } catch (thrown) {
      findings.push(fail("doctor", failureLine(thrown), "this check itself broke; run with SLUICE_LOG_LEVEL=debug"));
    }
  }
  return findings;
}

/** Nothing can be looked at with an environment that cannot be read; then its problems are the findings. */
async function groundOf(terminal: Terminal, online: boolean): Promise<Ground | readonly Finding[]> {
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
  let answer: Awaited<ReturnType<typeof askStraight>>;
  try {
    answer = await askStraight(url, { answerMs: answerMsMax, charactersMax });
  } catch (thrown) {
    throw new CommandFailed(`${url} does not answer: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
  const text = answer.text.trim();
  if (answer.status !== 200) throw new CommandFailed(`${url} answers ${answer.status}: ${text}`);
  return text;
}

const answerMsMax = 4_000;
const charactersMax = 200;
