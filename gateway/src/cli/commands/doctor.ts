import type { Command } from "commander";
import { EnvironmentInvalid } from "#config/index.ts";
import { systemClock, trustAuthorities } from "#system/index.ts";
import { type Finding, fail, type Ground } from "../checks/finding.ts";
import { CommandFailed } from "../command-failed.ts";
import { environmentOf } from "../open.ts";
import { report } from "../report.ts";
import type { Terminal } from "../terminal.ts";

export function addDoctor(program: Command, terminal: Terminal): void {
  program
    .command("doctor")
    .description(
      "look at everything the gateway needs and say what to do; nothing is changed (probes are written, and removed where they can be)",
    )
    .option("--online", "ask the providers too")
    .action(async (options: { readonly online?: boolean }, command: Command) => {
      const findings = await examine(terminal, options.online === true);
      const lines = findings.map(({ check, state, detail, advice }) => {
        const line = `${state.padEnd(4)}  ${check}: ${detail}`;
        return advice === null ? line : `${line} → ${advice}`;
      });
      const failed = findings.filter(({ state }) => state === "fail").length;
      await report(terminal, command, { ok: failed === 0, findings }, lines);
      if (failed > 0) throw new CommandFailed(`${failed} of ${findings.length} checks failed`);
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
