import { Button, Group, Text } from "@mantine/core";
import { useState } from "react";
import { useAuthAct } from "../../api/use-auth.ts";
import { Modal } from "../../components/modal.tsx";
import { Section } from "../../components/section.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { t } from "../../language/areas/profile.ts";
import { BackupCodes, codesStay } from "./backup-codes.tsx";
import { ConfirmPassword } from "./confirm-password.tsx";
import { TwoFactorSetup } from "./two-factor-setup.tsx";

interface BackupAnswer {
  readonly backup_codes: readonly string[];
}

/** Authenticator app codes in addition to the password. */
export function TwoFactorSection({ on }: { readonly on: boolean }) {
  const [open, setOpen] = useState<"setup" | "codes" | "off" | null>(null);
  const [codes, setCodes] = useState(false);
  const close = () => {
    setOpen(null);
    setCodes(false);
  };
  return (
    <Section
      title={t("profile.twoFactor.title")}
      description={t("profile.twoFactor.help")}
      actions={
        on ? (
          <>
            <Button variant="default" onClick={() => setOpen("codes")}>
              {t("profile.twoFactor.newCodes")}
            </Button>
            <Button variant="default" onClick={() => setOpen("off")}>
              {t("profile.twoFactor.disable")}
            </Button>
          </>
        ) : (
          <Button onClick={() => setOpen("setup")}>{t("profile.twoFactor.setUp")}</Button>
        )
      }
    >
      <Group gap="xs">
        <StatusBadge status={on ? "on" : "off"} tone={on ? "good" : "off"} />
        {!on && (
          <Text size="sm" c="dimmed">
            {t("profile.twoFactor.needsApp")}
          </Text>
        )}
      </Group>
      <TwoFactorSetup opened={open === "setup"} onClose={close} />
      <Modal
        opened={open === "codes"}
        onClose={close}
        title={t("profile.twoFactor.newCodes")}
        closeOnClickOutside={false}
        {...(codes ? codesStay : {})}
      >
        <NewCodes onCodes={() => setCodes(true)} onClose={close} />
      </Modal>
      <Modal opened={open === "off"} onClose={close} title={t("profile.twoFactor.disableTitle")}>
        <SwitchOff onClose={close} />
      </Modal>
    </Section>
  );
}

interface NewCodesProps {
  /** New codes were created; the earlier ones no longer work. */
  readonly onCodes: () => void;
  readonly onClose: () => void;
}

function NewCodes({ onCodes, onClose }: NewCodesProps) {
  const make = useAuthAct<{ password: string }, BackupAnswer>("/two-factor/generate-backup-codes", {
    inline: true,
    onDone: onCodes,
  });
  if (make.data !== undefined) return <BackupCodes codes={make.data.backup_codes} onClose={onClose} />;
  return (
    <ConfirmPassword
      verb={t("profile.twoFactor.createCodes")}
      problem={make.error}
      doing={make.isPending}
      onPassword={(password) => make.mutate({ password })}
    >
      {t("profile.twoFactor.codesHelp")}
    </ConfirmPassword>
  );
}

function SwitchOff({ onClose }: { readonly onClose: () => void }) {
  const off = useAuthAct<{ password: string }>("/two-factor/disable", {
    inline: true,
    done: t("profile.twoFactor.disabled"),
    onDone: onClose,
  });
  return (
    <ConfirmPassword
      verb={t("profile.twoFactor.disable")}
      problem={off.error}
      doing={off.isPending}
      onPassword={(password) => off.mutate({ password })}
    >
      {t("profile.twoFactor.disableHelp")}
    </ConfirmPassword>
  );
}
