import { CommanderError } from "commander";
import { CliCommand } from "./cli-command.ts";
import { addApply, addCheck, addSchema } from "./commands/config-files.ts";
import { addDatabaseCommands } from "./commands/database.ts";
import { addDoctor } from "./commands/doctor.ts";
import { addExport } from "./commands/export.ts";
import { addImport } from "./commands/import.ts";
import { addKeys } from "./commands/keys.ts";
import { addLedger } from "./commands/ledger.ts";
import { addConnect, addLogin } from "./commands/login.ts";
import { addMasterKeys } from "./commands/master-key.ts";
import { addPriceListUpdate } from "./commands/price-list-update.ts";
import { addProviders } from "./commands/providers.ts";
import { addReconcile } from "./commands/reconcile.ts";
import { addRehearse } from "./commands/rehearse.ts";
import { addDemo, addServe, addSimulate } from "./commands/serve.ts";
import { addTokens } from "./commands/tokens.ts";
import { addUsers } from "./commands/users.ts";
import { addWorkspaces } from "./commands/workspaces.ts";
import { OutputClosed, ReportedFailure, type Terminal, UsageError } from "./terminal.ts";
import { readRevision, versionFacts, versionLine } from "./version.ts";

/** The parser prints only help; its errors are thrown. */
function createProgram(terminal: Terminal): CliCommand {
  const program = new CliCommand(terminal, "sluice")
    .description("A model gateway: one address and one key in front of every AI provider.")
    .version(versionLine(readRevision()), "-V, --version", "print the version and the commit it was built from")
    .option("--json", "print JSON")
    .helpOption("-h, --help", "show help")
    .helpCommand("help [command]", "show help")
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({ writeOut: (text) => terminal.print(text), writeErr: () => {}, outputError: () => {} })
    .addHelpText("after", afterHelp);
  addServe(program);
  addDemo(program);
  addCheck(program);
  addApply(program);
  addImport(program);
  addRehearse(program);
  addReconcile(program);
  addDatabaseCommands(program);
  addKeys(program);
  addWorkspaces(program);
  addUsers(program);
  addTokens(program);
  addLogin(program);
  addMasterKeys(program);
  addConnect(program);
  addProviders(program);
  addPriceListUpdate(program);
  addLedger(program);
  addExport(program);
  addDoctor(program);
  addSimulate(program);
  addSchema(program);
  program
    .command("version")
    .description("print the version and the commit it was built from")
    .answer(async () => {
      const facts = versionFacts();
      return [facts, [versionLine(facts.revision)]];
    });
  return program;
}

const afterHelp = `
Settings are read from the environment (SLUICE_PORT, SLUICE_DATA_DIR, SLUICE_CONFIG …).
Exit status: 0 success, 1 failure (with one line on standard error), 2 invalid command line.`;

/**
 * Runs one command line and returns the exit status: 0 on success, 1 on failure, 2 for a wrong command line. A failure prints one line
 * on standard error, and a stack trace if SLUICE_LOG_LEVEL is debug.
 */
export async function runCli(words: readonly string[], terminal: Terminal): Promise<0 | 1 | 2> {
  try {
    if (words.length === 0) {
      createProgram(terminal).outputHelp();
      return 0;
    }
    await createProgram(terminal).parseAsync(words, { from: "user" });
    return 0;
  } catch (thrown) {
    if (thrown instanceof OutputClosed) return 0;
    if (thrown instanceof ReportedFailure) return thrown.status === 2 ? 2 : 1;
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return 0;
    const line = thrown instanceof CommanderError ? usageLine(thrown) : await lineOf(thrown);
    terminal.printError(words.includes("--json") ? JSON.stringify({ error: line }) : `sluice: ${line}`);
    if (terminal.variables["SLUICE_LOG_LEVEL"]?.toLowerCase() === "debug" && thrown instanceof Error) {
      terminal.printError(Bun.inspect(thrown));
    }
    return thrown instanceof CommanderError || thrown instanceof UsageError ? 2 : 1;
  }
}

async function lineOf(thrown: unknown): Promise<string> {
  const { failureLine } = await import("./failure-line.ts");
  return failureLine(thrown);
}

function usageLine(error: CommanderError): string {
  // A group such as `key` without a command.
  if (error.code === "commander.help") return "missing command; see --help";
  return error.message
    .replace(/^error: /, "")
    .replace(/\s*\(Did you mean (.*)\?\)$/s, "; did you mean $1?")
    .replaceAll(/\s*\n\s*/g, " ")
    .trim();
}
