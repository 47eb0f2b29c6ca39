import { Button, Group, NativeSelect, Stack, Table, Text, TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { useAuthAct } from "../../api/use-auth.ts";
import { Section } from "../../components/section.tsx";
import { t as words } from "../../language/areas/language.ts";
import { t } from "../../language/areas/profile.ts";
import { isLanguage, languages } from "../../language/index.ts";
import { useSession } from "../../session/session-context.tsx";
import { useChooseLanguage } from "../../session/use-language.ts";
import { roleWords } from "../workspaces/role-words.ts";

export function YouSection() {
  const { user, answer } = useSession();
  const [name, setName] = useState(user.name);
  const rename = useAuthAct<{ name: string }>("/update-user", { done: t("profile.you.renamed") });
  const changed = name.trim() !== user.name && name.trim() !== "";
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (changed) rename.mutate({ name: name.trim() });
  };
  return (
    <Section
      title={t("profile.you.title")}
      description={user.administrator ? t("profile.you.administrator", { email: user.email }) : user.email}
    >
      <Stack gap="md">
        <form onSubmit={submit}>
          <Group align="flex-end" gap="xs">
            <TextInput
              label={t("profile.name")}
              description={t("profile.you.nameHelp")}
              autoComplete="name"
              maxLength={256}
              required
              withAsterisk={false}
              w="min(20rem, 100%)"
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
            />
            <Button type="submit" size="sm" disabled={!changed} loading={rename.isPending}>
              {t("profile.save")}
            </Button>
          </Group>
        </form>
        <LanguageSelect />
        {!user.administrator && <Workspaces workspaces={answer.workspaces} />}
      </Stack>
    </Section>
  );
}

function LanguageSelect() {
  const { user } = useSession();
  const { choose, isPending } = useChooseLanguage();
  return (
    <NativeSelect
      label={words("language.label")}
      description={words("language.help")}
      w="min(20rem, 100%)"
      disabled={isPending}
      data={[
        { value: "", label: words("language.ofBrowser") },
        ...languages.map(({ id, name }) => ({ value: id, label: name })),
      ]}
      value={user.language ?? ""}
      onChange={({ currentTarget }) => void choose(isLanguage(currentTarget.value) ? currentTarget.value : null)}
    />
  );
}

function Workspaces({ workspaces }: { readonly workspaces: ReturnType<typeof useSession>["answer"]["workspaces"] }) {
  if (workspaces.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {t("profile.you.noWorkspace")}
      </Text>
    );
  }
  return (
    <Table w="fit-content" captionSide="top">
      <Table.Caption>{t("profile.you.workspaces")}</Table.Caption>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t("profile.you.workspace")}</Table.Th>
          <Table.Th>{t("profile.you.role")}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {workspaces.map((each) => (
          <Table.Tr key={each.id}>
            <Table.Td>
              <Link
                to="/workspaces/$workspace"
                params={{ workspace: each.slug }}
                search={{ workspace: each.slug }}
                className="text-link"
              >
                {each.name}
              </Link>
            </Table.Td>
            <Table.Td>{roleWords[each.role].label}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
