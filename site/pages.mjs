// Which pages the site has, and in what order. A page of docs/ that is in no group fails the build.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..");

const groups = [
  ["Get started", ["README.md", "docs/README.md", "docs/quickstart.md", "docs/console.md"]],
  ["Clients", folder("docs/clients")],
  ["Concepts", ["docs/glossary.md", "docs/architecture.md"]],
  ["Guides", ["team-budgets", "failover", "from-litellm"].map((name) => `docs/guides/${name}.md`)],
  ["Providers", folder("docs/providers")],
  ["Calls", ["docs/translation.md", "docs/video.md", "docs/assets.md", "docs/pass-through.md"]],
  ["Teams", ["docs/people.md", "docs/console-roles.md", "docs/scim.md", "docs/agent-sign-in.md"]],
  [
    "Run it",
    [
      "deployment",
      "terraform",
      "scale",
      "performance",
      "operations",
      "telemetry",
      "alerts",
      "ledger-export",
      "upgrade",
      "troubleshooting",
    ].map((name) => `docs/${name}.md`),
  ],
  ["Reference", ["docs/configuration.md", "docs/api.md"]],
  [
    "Contribute",
    [
      "CONTRIBUTING.md",
      "docs/dependencies.md",
      "docs/adapters.md",
      "docs/adding-an-endpoint.md",
      "docs/adding-a-migration.md",
      "SECURITY.md",
      "CHANGELOG.md",
    ],
  ],
  ["Decisions", folder("docs/decisions")],
];

/** A folder's first page says what the others are. */
function folder(path) {
  const names = readdirSync(join(root, path)).filter((name) => name.endsWith(".md") && name !== "README.md");
  return ["README.md", ...names.sort()].map((name) => `${path}/${name}`);
}

/** Every page by its path in the repository: where the site has it, and what it is called. */
export const pages = new Map(
  groups.flatMap(([, paths]) => paths.map((path) => [path, { place: placeOf(path), title: titleOf(path) }])),
);

function placeOf(path) {
  if (path === "docs/README.md") return "contents.md"; // the README of the repository is the site's first page
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
