import { credentials } from "../forwarding-suite.ts";
import { completionsEndpoint } from "./endpoint.ts";

credentials(completionsEndpoint);
