import type { ConsoleTexts, ProviderWords } from "../texts.ts";
import { access } from "./access.ts";
import { agents } from "./agents.ts";
import { alerts } from "./alerts.ts";
import { assets } from "./assets.ts";
import { attention } from "./attention.ts";
import { audit } from "./audit.ts";
import { batches } from "./batches.ts";
import { bill } from "./bill.ts";
import { catalog } from "./catalog.ts";
import { components } from "./components.ts";
import { connect } from "./connect.ts";
import { device } from "./device.ts";
import { files } from "./files.ts";
import { firstRun } from "./first-run.ts";
import { formats } from "./formats.ts";
import { guardrails } from "./guardrails.ts";
import { keys } from "./keys.ts";
import { kinds } from "./kinds.ts";
import { language } from "./language.ts";
import { ledgerExport } from "./ledger-export.ts";
import { limits } from "./limits.ts";
import { media } from "./media.ts";
import { models } from "./models.ts";
import { overview } from "./overview.ts";
import { people } from "./people.ts";
import { playground } from "./playground.ts";
import { prices } from "./prices.ts";
import { problems } from "./problems.ts";
import { profile } from "./profile.ts";
import { providers } from "./providers.ts";
import { rehearsals } from "./rehearsals.ts";
import { rehearse } from "./rehearse.ts";
import { reports } from "./reports.ts";
import { requests } from "./requests.ts";
import { rules } from "./rules.ts";
import { scim } from "./scim.ts";
import { session } from "./session.ts";
import { sessions } from "./sessions.ts";
import { settings } from "./settings.ts";
import { shell } from "./shell.ts";
import { signIn } from "./sign-in.ts";
import { snippets } from "./snippets.ts";
import { storedObjects } from "./stored-objects.ts";
import { tasks } from "./tasks.ts";
import { usage } from "./usage.ts";
import { workspaces } from "./workspaces.ts";

export const zhCN: ConsoleTexts & { readonly kinds: ProviderWords } = {
  access,
  agents,
  alerts,
  assets,
  attention,
  audit,
  batches,
  bill,
  catalog,
  components,
  connect,
  device,
  files,
  firstRun,
  formats,
  guardrails,
  keys,
  kinds,
  language,
  ledgerExport,
  limits,
  media,
  models,
  overview,
  people,
  playground,
  prices,
  problems,
  profile,
  providers,
  rehearsals,
  rehearse,
  reports,
  requests,
  rules,
  scim,
  session,
  sessions,
  settings,
  shell,
  signIn,
  snippets,
  storedObjects,
  tasks,
  usage,
  workspaces,
};
