import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { useAuthAct } from "../../api/use-auth.ts";
import { CopyText } from "../../components/copy-button.tsx";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { t } from "../../language/areas/profile.ts";
import { BackupCodes } from "./backup-codes.tsx";
import { PasswordAsked } from "./password-asked.tsx";
import { QrCode } from "./qr-code.tsx";

interface SetupAnswer {
  readonly totp_uri: string;
  readonly backup_codes: readonly string[];
}

interface TwoFactorSetupProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** The password, the QR code, a first code to prove that the app works, and the backup codes to keep. */
export function TwoFactorSetup({ opened, onClose }: TwoFactorSetupProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={t("profile.setUpTwoFactorSign")} closeOnClickOutside={false}>
      <Steps onClose={onClose} />
    </Modal>
  );
}

function Steps({ onClose }: { readonly onClose: () => void }) {
  const begin = useAuthAct<{ password: string }, SetupAnswer>("/two-factor/enable", { inline: true });
  const [proven, setProven] = useState(false);
  if (begin.data === undefined) {
    return (
      <PasswordAsked
        verb={t("profile.goOn")}
        problem={begin.error}
        doing={begin.isPending}
        onPassword={(password) => begin.mutate({ password })}
      >
        {t("profile.yourPasswordFirst")}
      </PasswordAsked>
    );
  }
  if (proven) return <BackupCodes codes={begin.data.backup_codes} onClose={onClose} />;
  return <FirstCode uri={begin.data.totp_uri} onProven={() => setProven(true)} />;
}

function FirstCode({ uri, onProven }: { readonly uri: string; readonly onProven: () => void }) {
  const [code, setCode] = useState("");
  const prove = useAuthAct<{ code: string }>("/two-factor/verify-totp", {
    inline: true,
    done: t("profile.twoFactorSignInIs2"),
    onDone: onProven,
  });
  const wrong = prove.error?.param === "code" ? prove.error.message : null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    prove.mutate({ code: code.trim() });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Text size="sm">{t("profile.scanThisWithTheAuthenticator")}</Text>
        <Group justify="center">
          <QrCode text={uri} label={t("profile.qrCodeForTheAuthenticator")} />
        </Group>
        <Group justify="center">
          <CopyText value={secretOf(uri)} label={t("profile.copyKey")} />
        </Group>
        <TextInput
          label={t("profile.codeThatTheAppShows")}
          autoComplete="one-time-code"
          inputMode="numeric"
          required
          withAsterisk={false}
          autoFocus
          maxLength={32}
          error={wrong}
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
        />
        {prove.error !== null && wrong === null && <ProblemAlert problem={prove.error} />}
        <Group justify="flex-end">
          <Button type="submit" size="sm" loading={prove.isPending}>
            {t("profile.switchOn")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** The shared key of an `otpauth:` address, for apps that cannot scan. */
function secretOf(uri: string): string {
  return new URL(uri).searchParams.get("secret") ?? "";
}
