import { Button, Group, Modal, Text } from "@mantine/core";
import { useState } from "react";
import { useAuthAct } from "../../api/use-auth.ts";
import { Section } from "../../components/section.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { BackupCodes } from "./backup-codes.tsx";
import { PasswordAsked } from "./password-asked.tsx";
import { TwoFactorSetup } from "./two-factor-setup.tsx";

interface BackupAnswer {
  readonly backup_codes: readonly string[];
}

/** Codes of an authenticator app besides the password. */
export function TwoFactorSection({ on }: { readonly on: boolean }) {
  const [open, setOpen] = useState<"setup" | "codes" | "off" | null>(null);
  const close = () => setOpen(null);
  return (
    <Section
      title="Two-factor sign-in"
      description="A code of an authenticator app besides the password: a stolen password alone then opens nothing."
      actions={
        on ? (
          <>
            <Button variant="default" onClick={() => setOpen("codes")}>
              New backup codes
            </Button>
            <Button variant="default" onClick={() => setOpen("off")}>
              Switch off
            </Button>
          </>
        ) : (
          <Button onClick={() => setOpen("setup")}>Set up</Button>
        )
      }
    >
      <Group gap="xs">
        <StatusBadge status={on ? "on" : "off"} tone={on ? "good" : "off"} />
        {!on && (
          <Text size="sm" c="dimmed">
            You need an app that shows codes: a password manager, or one such as Aegis, 2FAS or Google Authenticator.
          </Text>
        )}
      </Group>
      <TwoFactorSetup opened={open === "setup"} onClose={close} />
      <Modal opened={open === "codes"} onClose={close} title="New backup codes" closeOnClickOutside={false}>
        <NewCodes onClose={close} />
      </Modal>
      <Modal opened={open === "off"} onClose={close} title="Switch off two-factor sign-in">
        <SwitchOff onClose={close} />
      </Modal>
    </Section>
  );
}

function NewCodes({ onClose }: { readonly onClose: () => void }) {
  const make = useAuthAct<{ password: string }, BackupAnswer>("/two-factor/generate-backup-codes", { inline: true });
  if (make.data !== undefined) return <BackupCodes codes={make.data.backup_codes} onClose={onClose} />;
  return (
    <PasswordAsked
      verb="Make new codes"
      problem={make.error}
      doing={make.isPending}
      onPassword={(password) => make.mutate({ password })}
    >
      The codes you have now stop working.
    </PasswordAsked>
  );
}

function SwitchOff({ onClose }: { readonly onClose: () => void }) {
  const off = useAuthAct<{ password: string }>("/two-factor/disable", {
    inline: true,
    done: "Two-factor sign-in is off. You are signed out everywhere else.",
    onDone: onClose,
  });
  return (
    <PasswordAsked
      verb="Switch off"
      problem={off.error}
      doing={off.isPending}
      onPassword={(password) => off.mutate({ password })}
    >
      From then on the password alone signs you in.
    </PasswordAsked>
  );
}
