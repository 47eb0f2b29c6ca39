import { credentials } from "../forwarding-suite.ts";
import { speechEndpoint } from "./endpoint.ts";

credentials(speechEndpoint);
