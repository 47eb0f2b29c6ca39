import {
  ActionIcon,
  Anchor,
  Button,
  Container,
  Group,
  Text,
  useComputedColorScheme,
  useMantineColorScheme,
} from "@mantine/core";
import mark from "./mark.svg";

interface HeaderProps {
  readonly version: string | null;
  /** null while no key is in use. */
  readonly onLeave: (() => void) | null;
}

export function Header({ version, onLeave }: HeaderProps) {
  return (
    <header className="header">
      <Container size="xl" px="md" className="header-line">
        <Group gap="sm" wrap="nowrap">
          <img src={mark} alt="" width={30} height={30} />
          <Text component="h1" fw={700} size="lg" m={0}>
            Sluice
          </Text>
          {version !== null && (
            <Text size="xs" c="dimmed" className="wide-only">
              {version}
            </Text>
          )}
        </Group>
        <Group gap="sm" wrap="nowrap">
          <Anchor href="/docs" size="sm">
            API<span className="wide-only"> reference</span>
          </Anchor>
          {onLeave !== null && (
            <Button variant="default" size="xs" onClick={onLeave}>
              Forget key
            </Button>
          )}
          <SchemeSwitch />
        </Group>
      </Container>
    </header>
  );
}

function SchemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme("light");
  const other = scheme === "dark" ? "light" : "dark";
  return (
    <ActionIcon
      variant="default"
      size="lg"
      onClick={() => setColorScheme(other)}
      aria-label={`Use ${other} colours`}
      title={`Use ${other} colours`}
    >
      <svg
        width="18"
        height="18"
        viewBox="0 0 24 24"
        fill="none"
        stroke="currentColor"
        strokeWidth="2"
        aria-hidden="true"
      >
        {scheme === "dark" ? (
          <path
            d="M12 4V2m0 20v-2m8-8h2M2 12h2m13.7-5.7 1.4-1.4M4.9 19.1l1.4-1.4m0-11.4L4.9 4.9m14.2 14.2-1.4-1.4M16 12a4 4 0 1 1-8 0 4 4 0 0 1 8 0Z"
            strokeLinecap="round"
          />
        ) : (
          <path d="M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.500Z" strokeLinejoin="round" />
        )}
      </svg>
    </ActionIcon>
  );
}
