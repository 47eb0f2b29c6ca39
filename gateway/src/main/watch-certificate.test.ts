import { expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FakeClock } from "../../test/fake-clock.ts";
import { type Certificate, readCertificate, watchCertificate } from "./certificate.ts";

const fixtures = join(import.meta.dir, "..", "..", "test", "fixtures", "tls");

test("uses a pair that was replaced between the start and the first watch", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-certificate-"));
  const files = { certificate: join(folder, "tls.crt"), key: join(folder, "tls.key") };
  const put = (name: string): void => {
    copyFileSync(join(fixtures, `${name}.cert.pem`), files.certificate);
    copyFileSync(join(fixtures, `${name}.key.pem`), files.key);
  };
  put("gateway.example");
  const first = await readCertificate(files);
  put("upstream.example");
  const { promise: taken, resolve } = Promise.withResolvers<Certificate>();
  const watch = watchCertificate(files, {
    clock: new FakeClock(),
    observer: { log: () => undefined },
    first,
    changed: async (certificate) => resolve(certificate),
  });
  expect((await taken).chain).not.toBe(first.chain);
  await watch.close();
  rmSync(folder, { recursive: true });
});
