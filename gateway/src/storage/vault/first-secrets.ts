import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

/**
 * What a first start has to tell one person, where standard output may be read by others: files in the data directory that
 * only its owner may read. Each holds one line and nothing else, so that a shell can put it where it belongs.
 */
export class FirstSecrets {
  readonly #keyFile: string;
  readonly #linkFile: string;
  #keptLink = false;

  constructor(dataDir: string) {
    this.#keyFile = resolve(join(dataDir, "first-key"));
    this.#linkFile = resolve(join(dataDir, "setup-link"));
  }

  /** Gives the file's absolute path. */
  keepKey(secret: string): string {
    return keep(this.#keyFile, secret);
  }

  /** What an earlier start has kept, with the file's absolute path; null when there is no such file. */
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

  /** A link works as long as the process that showed it: one that leaves lets that of another in the same directory be. */
  removeOwnLink(): void {
    if (this.#keptLink) this.removeLink();
  }

  remove(): void {
    this.removeLink();
    rmSync(this.#keyFile, { force: true });
  }
}

function keep(path: string, line: string): string {
  // Anew, so that neither the rights nor the owner of what was there hold on, nor a link leads elsewhere.
  rmSync(path, { force: true });
  writeFileSync(path, `${line}\n`, { flag: "wx", mode: 0o600 });
  chmodSync(path, 0o600);
  return path;
}
