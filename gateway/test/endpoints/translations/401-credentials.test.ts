import { credentials } from "../forwarding-suite.ts";
import { translationsEndpoint } from "./endpoint.ts";

credentials(translationsEndpoint);
