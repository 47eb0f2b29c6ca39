// The pages of the site in their order. A page of docs/ that is missing here fails the build.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..");

const groups = [
  ["Get started", ["README.md", "docs/README.md", "docs/quickstart.md", "docs/console.md"]],
  ["Clients", folder("docs/clients")],
  ["Concepts", docs("concepts", "limits", "retries", "prices")],
  [
    "Guides",
    docs(
      ...[
        "guides/team-budgets",
        "guides/failover",
        "guides/batches",
        "guides/guardrails",
        "guides/files",
        "guides/finance",
      ],
      "rehearsal",
      "guides/ldap-saml",
      ...["guides/migrate-from-litellm", "guides/migrate-from-others"],
    ),
  ],
  ["Providers", [...folder("docs/providers"), ...docs("keyless-upstreams")]],
  ["Calls", docs("translation", "video", "assets", "pass-through", "request-details")],
  ["Teams", docs("people", "console-roles", "scim", "agent-sign-in")],
  [
    "Operations",
    [
      ...docs("operations/README", "deployment", "terraform"),
      ...docs("operations/running", "operations/network", "operations/security"),
      ...docs("alerts", "operations/monitoring", "operations/prometheus-alerts", "telemetry"),
      ...docs("operations/databases", "scale", "operations/capacity", "performance"),
      ...docs("operations/backup", "upgrade", "operations/ledger", "ledger-export", "focus", "reconciliation"),
      ...docs("operations/incidents", "troubleshooting", "operations/fault-tests"),
    ],
  ],
  ["Reference", docs("configuration", "cli", "api")],
  [
    "Contribute",
    [
      "CONTRIBUTING.md",
      ...docs("architecture", "glossary", "dependencies", "adapters", "adding-an-endpoint", "adding-a-migration"),
      "bench/history.md",
      "SECURITY.md",
      "CHANGELOG.md",
    ],
  ],
  ["Decisions", folder("docs/decisions")],
];

function docs(...names) {
  return names.map((name) => `docs/${name}.md`);
}

/** The pages of a folder, its index first. */
function folder(path) {
  const names = readdirSync(join(root, path)).filter((name) => name.endsWith(".md") && name !== "README.md");
  return ["README.md", ...names.sort()].map((name) => `${path}/${name}`);
}

/** By path in the repository: the path on the site and the title. */
export const pages = new Map(
  groups.flatMap(([, paths]) => paths.map((path) => [path, { place: placeOf(path), title: titleOf(path) }])),
);

function placeOf(path) {
  if (path === "docs/README.md") return "contents.md"; // README.md is the home page
  return path.replace(/^docs\//, "").replace(/(^|\/)README\.md$/, "$1index.md");
}

function titleOf(path) {
  const heading = /^# (.+)$/m.exec(readFileSync(join(root, path), "utf8"));
  if (heading === null) throw new Error(`${path} has no heading`);
  return heading[1].replaceAll("`", "");
}

export const sidebar = groups.map(([text, paths]) => ({
  text,
  collapsed: text === "Decisions" || text === "Providers",
  items: paths.map((path) => {
    const { place, title } = pages.get(path);
    return {
      text: path === "README.md" ? "Overview" : title,
      link: `/${place.replace(/(^|\/)index\.md$/, "$1").replace(/\.md$/, "")}`,
    };
  }),
}));
