import { describe, expect, test } from "bun:test";
import { join } from "node:path";

/** A package as package-lock.json describes it. */
interface Locked {
  readonly name?: string;
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const root = join(import.meta.dir, "..", "..");
const lockfiles = ["package-lock.json", "site/package-lock.json"];
const locked = await Promise.all(lockfiles.map(async (file) => (await Bun.file(join(root, file)).json()).packages));

describe.each(lockfiles)("%s", (lockfile) => {
  const packages: Readonly<Record<string, Locked>> = locked[lockfiles.indexOf(lockfile)];

  test("the lockfile names every package that another one asks for, those for other platforms too: else `npm ci` refuses it", () => {
    const missing = Object.entries(packages).flatMap(([path, entry]) =>
      Object.entries(wantedBy(path, entry)).flatMap(([name, range]) => {
        const found = find(path, name);
        if (found === undefined) return [`${path || "the root"} asks for ${name}, which is not there`];
        return found.link || fits(found, range) ? [] : [`${path || "the root"} asks for ${name}@${range}`];
      }),
    );
    expect(missing).toEqual([]);
  });

  test("the lockfile names no address of a registry, and a digest of every package", () => {
    const fetched = Object.entries(packages).filter(([path, entry]) => path.includes("node_modules/") && !entry.link);
    expect(fetched.length).toBeGreaterThan(100);
    expect(fetched.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).toEqual([]);
    expect(fetched.filter(([, { integrity }]) => !integrity?.startsWith("sha512-")).map(([path]) => path)).toEqual([]);
  });

  /** As Node looks for it: in the package's own node_modules, then in those above. */
  function find(path: string, name: string): Locked | undefined {
    for (let folder = path; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/")))) {
      const found = packages[`${folder === "" ? "" : `${folder}/`}node_modules/${name}`];
      if (found !== undefined || folder === "") return found;
    }
  }
});

/** What is asked for only when it is developed is installed for our own packages alone. */
function wantedBy(path: string, entry: Locked): Readonly<Record<string, string>> {
  const own = !path.includes("node_modules/");
  return { ...entry.dependencies, ...entry.optionalDependencies, ...(own ? entry.devDependencies : {}) };
}

function fits({ version = "" }: Locked, range: string): boolean {
  return Bun.semver.satisfies(version, range.replace(/^npm:.*@/, ""));
}
