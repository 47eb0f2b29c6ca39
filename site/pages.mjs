// Which pages the site has, and in what order. A page of docs/ that is in no group fails the build.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..");

const groups = [
  ["Start", ["README.md", "docs/quickstart.md", "docs/console.md", "docs/configuration.md", "docs/api.md"]],
  ["Clients", folder("docs/clients")],
  ["People", ["docs/agent-sign-in.md", "docs/people.md", "docs/scim.md", "docs/console-roles.md"]],
  ["Providers", folder("docs/providers")],
  ["Calls", ["docs/translation.md", "docs/pass-through.md", "docs/video.md", "docs/assets.md"]],
  [
    "Operations",
    [
      "deployment",
      "upgrade",
      "operations",
      "troubleshooting",
      "alerts",
      "telemetry",
      "ledger-export",
      "terraform",
      "scale",
      "performance",
    ].map((name) => `docs/${name}.md`),
  ],
  [
    "Builders",
    [
      "docs/architecture.md",
      "docs/glossary.md",
      "docs/adapters.md",
      "docs/adding-an-endpoint.md",
      "docs/adding-a-migration.md",
      "docs/dependencies.md",
      "CONTRIBUTING.md",
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
