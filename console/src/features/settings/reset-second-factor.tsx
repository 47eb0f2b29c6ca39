import { Checkbox, Stack } from "@mantine/core";
import type { ConsoleUser } from "@sluice/contract";
import { useState } from "react";
import { useAct } from "../../api/use-act.ts";
import { ConfirmDialog } from "../../components/confirm-button.tsx";
import { t } from "../../language/areas/settings.ts";

interface ResetSecondFactorProps {
  readonly user: ConsoleUser;
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** Helps a user who lost a phone or security key: removes the lost factors. */
export function ResetSecondFactor({ user, opened, onClose }: ResetSecondFactorProps) {
  const [ticked, setTicked] = useState(false);
  const reset = useAct("users.resetSecondFactor", {
    invalidates: ["users.list"],
    done: t("settings.factor.done", { email: user.email }),
  });
  // A user with only passkeys has no other factor to reset.
  const passkeys = user.passkeys > 0 && (ticked || !user.two_factor);
  const close = () => {
    setTicked(false);
    onClose();
  };
  return (
    <ConfirmDialog
      opened={opened}
      onClose={close}
      title={t("settings.factor.title", { email: user.email })}
      verb={t("settings.factor.reset")}
      onConfirm={() => reset.mutateAsync({ params: { user: user.id }, body: { passkeys } })}
    >
      <WhatHappens user={user} ticked={ticked} onTick={setTicked} />
    </ConfirmDialog>
  );
}

interface WhatHappensProps {
  readonly user: ConsoleUser;
  readonly ticked: boolean;
  readonly onTick: (ticked: boolean) => void;
}

function WhatHappens({ user, ticked, onTick }: WhatHappensProps) {
  // The state at the time of the click: the list refreshes before the dialog closes.
  const [{ two_factor: app, passkeys }] = useState(user);
  return (
    <Stack gap="sm">
      <span>{app ? t("settings.factor.appHelp") : t("settings.factor.passkeysHelp", { count: passkeys })}</span>
      {app && passkeys > 0 && (
        <Checkbox
          label={t("settings.factor.passkeysToo", { count: passkeys })}
          description={t("settings.factor.passkeysTooHelp")}
          checked={ticked}
          onChange={(event) => onTick(event.currentTarget.checked)}
        />
      )}
    </Stack>
  );
}
