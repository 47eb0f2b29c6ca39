import { Command } from "commander";
import { addApply } from "./commands/apply.ts";
import { addBackup } from "./commands/backup.ts";
import { addCheck } from "./commands/check.ts";
import { addConnect } from "./commands/connect.ts";
import { addDemo } from "./commands/demo.ts";
import { addDoctor } from "./commands/doctor.ts";
import { addHealth } from "./commands/health.ts";
import { addKeyCreate } from "./commands/key-create.ts";
import { addKeyList } from "./commands/key-list.ts";
import { addKeyRevoke } from "./commands/key-revoke.ts";
import { addKeyRotate } from "./commands/key-rotate.ts";
import { addKeyShow } from "./commands/key-show.ts";
import { addLedgerExport } from "./commands/ledger-export.ts";
import { addLedgerVerify } from "./commands/ledger-verify.ts";
import { addLogin, addLogout, printToken } from "./commands/login.ts";
import { addMasterKeys } from "./commands/master-key.ts";
import { addMigrate } from "./commands/migrate.ts";
import { addModelList } from "./commands/model-list.ts";
import { addPriceListUpdate } from "./commands/price-list-update.ts";
import { addProviderList } from "./commands/provider-list.ts";
import { addProviderTest } from "./commands/provider-test.ts";
import { addRestore } from "./commands/restore.ts";
import { addSchema } from "./commands/schema.ts";
import { addServe } from "./commands/serve.ts";
import { addServiceTokens } from "./commands/service-token.ts";
import { addSimulate } from "./commands/simulate.ts";
import { addTokenCreate } from "./commands/token-create.ts";
import { addTokenList } from "./commands/token-list.ts";
import { addTokenRevoke } from "./commands/token-revoke.ts";
import { addTokenSecret } from "./commands/token-secret.ts";
import { addUserCreate } from "./commands/user-create.ts";
import { addUserDisable, addUserEnable, addUserRemove } from "./commands/user-end.ts";
import { addUserList } from "./commands/user-list.ts";
import { addUserReset } from "./commands/user-reset.ts";
import { addUserResetSecondFactor } from "./commands/user-reset-second-factor.ts";
import { addWorkspaceCreate } from "./commands/workspace-create.ts";
import { addWorkspaceList } from "./commands/workspace-list.ts";
import { addWorkspaceWebhookSecret } from "./commands/workspace-webhook-secret.ts";
import { report } from "./report.ts";
import type { Terminal } from "./terminal.ts";
import { readRevision, versionFacts, versionLine } from "./version.ts";

/** Every command, ready to parse. Nothing is printed by the parser except help; its errors are thrown. */
export function createProgram(terminal: Terminal): Command {
  const program = new Command("sluice")
    .description("A model gateway: one address and one key in front of every AI provider.")
    .version(versionLine(readRevision()), "-V, --version", "print the version and the commit it was built from")
    .option("--json", "answer in JSON, for machines")
    .helpOption("-h, --help", "show help")
    .helpCommand("help [command]", "show help")
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({ writeOut: (text) => terminal.show(text), writeErr: () => {}, outputError: () => {} })
    .addHelpText("after", afterHelp);
  addServe(program, terminal);
  addDemo(program, terminal);
  addCheck(program, terminal);
  addApply(program, terminal);
  addMigrate(program, terminal);
  addBackup(program, terminal);
  addRestore(program, terminal);
  const key = program.command("key").description("create, list, show, rotate and revoke API keys");
  addKeyCreate(key, terminal);
  addKeyList(key, terminal);
  addKeyShow(key, terminal);
  addKeyRotate(key, terminal);
  addKeyRevoke(key, terminal);
  const workspace = program.command("workspace").description("create and list workspaces");
  addWorkspaceList(workspace, terminal);
  addWorkspaceWebhookSecret(workspace, terminal);
  addWorkspaceCreate(workspace, terminal);
  const user = program
    .command("user")
    .description("create, list, disable and delete users, and help those who cannot sign in");
  addUserCreate(user, terminal);
  addUserList(user, terminal);
  addUserDisable(user, terminal);
  addUserEnable(user, terminal);
  addUserRemove(user, terminal);
  addUserReset(user, terminal);
  addUserResetSecondFactor(user, terminal);
  const token = program
    .command("token")
    .description(
      "print the access token of `sluice login` (for agents); create, list and revoke admin tokens and service tokens",
    )
    .action(() => printToken(terminal));
  addTokenCreate(token, terminal);
  addTokenList(token, terminal);
  addTokenRevoke(token, terminal);
  addTokenSecret(token, terminal);
  addServiceTokens(token, terminal);
  addLogin(program, terminal);
  addLogout(program, terminal);
  addMasterKeys(program, terminal);
  addConnect(program, terminal);
  const provider = program.command("provider").description("list and test providers");
  addProviderList(provider, terminal);
  addProviderTest(provider, terminal);
  const model = program.command("model").description("list models");
  addModelList(model, terminal);
  const priceList = program.command("catalogue").description("keep prices current");
  addPriceListUpdate(priceList, terminal);
  const ledger = program.command("ledger").description("verify and export the ledger");
  addLedgerVerify(ledger, terminal);
  addLedgerExport(ledger, terminal);
  addDoctor(program, terminal);
  addHealth(program, terminal);
  addSimulate(program, terminal);
  addSchema(program, terminal);
  program
    .command("version")
    .description("print the version and the commit it was built from")
    .action(async (_options: object, command: Command) => {
      const facts = versionFacts();
      await report(terminal, command, facts, [versionLine(facts.revision)]);
    });
  return program;
}

const afterHelp = `
Settings are read from the environment (SLUICE_PORT, SLUICE_DATA_DIR, SLUICE_CONFIG …).
Exit status: 0 done, 1 failed with one line that says why, 2 wrong command line.`;
