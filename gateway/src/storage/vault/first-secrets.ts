import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

/**
 * Secrets of a first start, in files of the data directory that only the owner may read, because standard output may be visible to
 * others. Each file has one line, for use in shell commands.
 */
export class FirstSecrets {
  readonly #keyFile: string;
  readonly #linkFile: string;
  #keptLink = false;

  constructor(dataDir: string) {
    this.#keyFile = resolve(join(dataDir, "first-key"));
    this.#linkFile = resolve(join(dataDir, "setup-link"));
  }

  /** Returns the absolute path. */
  keepKey(secret: string): string {
    return keep(this.#keyFile, secret);
  }

  /** A secret stored by an earlier start; null: none. */
  keptKey(): { readonly secret: string; readonly file: string } | null {
    try {
      return { secret: readFileSync(this.#keyFile, "utf8").trim(), file: this.#keyFile };
    } catch {
      return null;
    }
  }

  keepLink(link: string): string {
    this.#keptLink = true;
    return keep(this.#linkFile, link);
  }

  removeLink(): void {
    rmSync(this.#linkFile, { force: true });
  }

  /** Removes the link only if this process stored it: another process in the directory may have its own. */
  removeOwnLink(): void {
    if (this.#keptLink) this.removeLink();
  }

  remove(): void {
    this.removeLink();
    rmSync(this.#keyFile, { force: true });
  }
}

function keep(path: string, line: string): string {
  // A new file, to not inherit permissions, owner or a symbolic link.
  rmSync(path, { force: true });
  writeFileSync(path, `${line}\n`, { flag: "wx", mode: 0o600 });
  chmodSync(path, 0o600);
  return path;
}
