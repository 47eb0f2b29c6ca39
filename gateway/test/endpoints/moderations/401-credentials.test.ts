import { credentials } from "../forwarding-suite.ts";
import { moderationsEndpoint } from "./endpoint.ts";

credentials(moderationsEndpoint);
