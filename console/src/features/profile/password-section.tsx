import { Button, PasswordInput, Stack } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { useAuthAct } from "../../api/use-auth.ts";
import { ProblemAlert } from "../../components/problem-alert.tsx";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/profile.ts";
import { NewPassword, noPassword, passwordReady } from "../../session/new-password.tsx";

export function PasswordSection() {
  const [open, setOpen] = useState(false);
  return (
    <Section
      title={t("profile.password")}
      description={t("profile.changingItSignsYouOut")}
      actions={
        !open && (
          <Button variant="default" onClick={() => setOpen(true)}>
            {t("profile.changePassword")}
          </Button>
        )
      }
    >
      {open && <PasswordForm onClose={() => setOpen(false)} />}
    </Section>
  );
}

function PasswordForm({ onClose }: { readonly onClose: () => void }) {
  const [current, setCurrent] = useState("");
  const [password, setPassword] = useState(noPassword);
  const [tried, setTried] = useState(false);
  const change = useAuthAct<{ current_password: string; new_password: string }>("/change-password", {
    done: t("profile.passwordChangedYouAreSigned"),
    inline: true,
    onDone: onClose,
  });
  const wrong = change.error?.param === "current_password" ? change.error.message : null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (passwordReady(password)) change.mutate({ current_password: current, new_password: password.password });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm" maw="24rem">
        <PasswordInput
          label={t("profile.currentPassword")}
          autoComplete="current-password"
          required
          withAsterisk={false}
          autoFocus
          maxLength={256}
          error={wrong}
          value={current}
          onChange={(event) => setCurrent(event.currentTarget.value)}
        />
        <NewPassword value={password} onChange={setPassword} tried={tried} label={t("profile.newPassword")} />
        {change.error !== null && wrong === null && <ProblemAlert problem={change.error} />}
        <Button.Group>
          <Button type="submit" size="sm" loading={change.isPending}>
            {t("profile.changePassword")}
          </Button>
          <Button variant="default" size="sm" onClick={onClose}>
            {t("profile.cancel")}
          </Button>
        </Button.Group>
      </Stack>
    </form>
  );
}
