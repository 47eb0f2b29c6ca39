import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { useAuthAct } from "../../api/use-auth.ts";
import { CopyText } from "../../components/copy-button.tsx";
import { FormProblem } from "../../components/form-problem.tsx";
import { Modal } from "../../components/modal.tsx";
import { wrongField } from "../../components/wrong-field.ts";
import { t } from "../../language/areas/profile.ts";
import { BackupCodes, codesStay } from "./backup-codes.tsx";
import { ConfirmPassword } from "./confirm-password.tsx";
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
  const [proven, setProven] = useState(false);
  const close = () => {
    onClose();
    setProven(false);
  };
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={t("profile.twoFactor.setUpTitle")}
      closeOnClickOutside={false}
      {...(proven ? codesStay : {})}
    >
      <Steps proven={proven} onProven={() => setProven(true)} onClose={close} />
    </Modal>
  );
}

interface StepsProps {
  /** The app was confirmed, and the second factor is enabled. */
  readonly proven: boolean;
  readonly onProven: () => void;
  readonly onClose: () => void;
}

function Steps({ proven, onProven, onClose }: StepsProps) {
  const begin = useAuthAct<{ password: string }, SetupAnswer>("/two-factor/enable", { inline: true });
  if (begin.data === undefined) {
    return (
      <ConfirmPassword
        verb={t("profile.continue")}
        problem={begin.error}
        doing={begin.isPending}
        onPassword={(password) => begin.mutate({ password })}
      >
        {t("profile.twoFactor.passwordFirst")}
      </ConfirmPassword>
    );
  }
  if (proven) return <BackupCodes codes={begin.data.backup_codes} onClose={onClose} />;
  return <FirstCode uri={begin.data.totp_uri} onProven={onProven} />;
}

function FirstCode({ uri, onProven }: { readonly uri: string; readonly onProven: () => void }) {
  const [code, setCode] = useState("");
  const prove = useAuthAct<{ code: string }>("/two-factor/verify-totp", {
    inline: true,
    done: t("profile.twoFactor.enabled"),
    onDone: onProven,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    prove.mutate({ code: code.trim() });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Text size="sm">{t("profile.twoFactor.scan")}</Text>
        <Group justify="center">
          <QrCode text={uri} label={t("profile.twoFactor.qrCode")} />
        </Group>
        <Group justify="center">
          <CopyText value={secretOf(uri)} label={t("profile.twoFactor.copyKey")} />
        </Group>
        <TextInput
          label={t("profile.twoFactor.code")}
          autoComplete="one-time-code"
          inputMode="numeric"
          required
          withAsterisk={false}
          autoFocus
          maxLength={32}
          error={wrongField(prove.error, "code")}
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
        />
        <FormProblem problem={prove.error} />
        <Group justify="flex-end">
          <Button type="submit" size="sm" loading={prove.isPending}>
            {t("profile.twoFactor.enable")}
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
