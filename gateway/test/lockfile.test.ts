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

  test("the lockfile contains every dependency, also for other platforms, as `npm ci` requires", () => {
    const missing = Object.entries(packages).flatMap(([path, entry]) =>
      Object.entries(wantedBy(path, entry)).flatMap(([name, range]) => {
        const found = find(path, name);
        if (found === undefined) return [`${path || "the root"} asks for ${name}, which is not there`];
        return found.link || fits(found, range) ? [] : [`${path || "the root"} asks for ${name}@${range}`];
      }),
    );
    expect(missing).toEqual([]);
  });

  test("the lockfile contains no registry URL, and a digest of every package", () => {
    const fetched = Object.entries(packages).filter(([path, entry]) => path.includes("node_modules/") && !entry.link);
    expect(fetched.length).toBeGreaterThan(100);
    expect(fetched.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).toEqual([]);
    expect(fetched.filter(([, { integrity }]) => !integrity?.startsWith("sha512-")).map(([path]) => path)).toEqual([]);
  });

  /** Resolves like Node: in the package's node_modules, then in its parents'. */
  function find(path: string, name: string): Locked | undefined {
    for (let folder = path; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/")))) {
      const found = packages[`${folder === "" ? "" : `${folder}/`}node_modules/${name}`];
      if (found !== undefined || folder === "") return found;
    }
  }
});

/** Development dependencies are installed for our own packages only. */
function wantedBy(path: string, entry: Locked): Readonly<Record<string, string>> {
  const own = !path.includes("node_modules/");
  return { ...entry.dependencies, ...entry.optionalDependencies, ...(own ? entry.devDependencies : {}) };
}

function fits({ version = "" }: Locked, range: string): boolean {
  return Bun.semver.satisfies(version, range.replace(/^npm:.*@/, ""));
}
