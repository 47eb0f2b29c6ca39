import { tooLargeBodies } from "../forwarding-suite.ts";
import { translationsEndpoint } from "./endpoint.ts";

tooLargeBodies(translationsEndpoint);
