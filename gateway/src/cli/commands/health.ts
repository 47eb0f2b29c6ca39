import { Argument, type Command } from "commander";
import { askStraight, ownAddress } from "../ask-straight.ts";
import { CommandFailed } from "../command-failed.ts";
import { environmentOf } from "../open.ts";
import { report } from "../report.ts";
import type { Terminal } from "../terminal.ts";

/** For supervisors that ask by a program, as containers do: an image without a shell has no curl. */
export function addHealth(program: Command, terminal: Terminal): void {
  program
    .command("health")
    .description("ask the gateway on this machine whether it is well")
    .addArgument(
      new Argument("[path]", "/healthz: it answers; /readyz: it takes calls")
        .choices(["/healthz", "/readyz"])
        .default("/healthz"),
    )
    .action(async (path: string, _options: object, command: Command) => {
      const environment = await environmentOf(terminal.variables);
      const answer = await ask(`${ownAddress(environment, environment.host, environment.port)}${path}`);
      if (answer.status !== 200) throw new CommandFailed(answer.text);
      await report(terminal, command, { ok: true, path }, [answer.text]);
    });
}

async function ask(url: string): Promise<{ readonly status: number; readonly text: string }> {
  try {
    const { status, text: said } = await askStraight(url, { answerMs: answerMsMax, charactersMax });
    const text = said.trim();
    return { status, text: status === 200 ? text : `${url} answers ${status}: ${text}` };
  } catch (thrown) {
    return { status: 0, text: `${url} does not answer: ${thrown instanceof Error ? thrown.message : String(thrown)}` };
  }
}

const answerMsMax = 4_000;
const charactersMax = 200;
