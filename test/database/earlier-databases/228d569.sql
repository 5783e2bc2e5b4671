-- A database of commit 228d569, for earlier-databases.spec.ts. Its service and its commands made it: each operation
-- was called, with BAN_DURATIONS=1s,12h and two receivers of webhooks, one of which always failed. Only what takes
-- days was written by SQL: the states of orders, usage of earlier days, a failed delivery, one of
-- operation.deprecated_called, and an audit event of the service itself. Then pg_dump 15 --inserts
-- --rows-per-insert=500 --no-owner --no-privileges. 228d569.json has its time, its keys and some responses.

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

COMMENT ON SCHEMA public IS '';

CREATE TYPE public.key_role AS ENUM (
    'client',
    'admin'
);

CREATE TYPE public.order_status AS ENUM (
    'placed',
    'approved',
    'delivered'
);

CREATE TYPE public.pet_status AS ENUM (
    'available',
    'pending',
    'sold'
);

CREATE TYPE public.usage_period AS ENUM (
    'minute',
    'hour',
    'day'
);

CREATE TYPE public.webhook_delivery_state AS ENUM (
    'pending',
    'delivered',
    'failed'
);

CREATE FUNCTION public.notify_key_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM pg_notify('animal_store_keys', '');
    RETURN NULL;
END
$$;

CREATE FUNCTION public.reject_audit_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION 'The audit is append only: % is rejected', TG_OP USING ERRCODE = 'insufficient_privilege';
END
$$;

SET default_table_access_method = heap;

CREATE TABLE public._prisma_migrations (
    id character varying(36) NOT NULL,
    checksum character varying(64) NOT NULL,
    finished_at timestamp with time zone,
    migration_name character varying(255) NOT NULL,
    logs text,
    rolled_back_at timestamp with time zone,
    started_at timestamp with time zone DEFAULT now() NOT NULL,
    applied_steps_count integer DEFAULT 0 NOT NULL
);

CREATE TABLE public.api_keys (
    id uuid NOT NULL,
    quota_id uuid NOT NULL,
    name text NOT NULL,
    note text,
    role public.key_role DEFAULT 'client'::public.key_role NOT NULL,
    scopes text[] DEFAULT ARRAY[]::text[] NOT NULL,
    allowed_networks text[] DEFAULT ARRAY[]::text[] NOT NULL,
    hash bytea NOT NULL,
    prefix text NOT NULL,
    last_four text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    expires_at timestamp(3) with time zone,
    revoked_at timestamp(3) with time zone,
    predecessor_id uuid,
    issued_by uuid,
    CONSTRAINT api_keys_allowed_networks_canonical CHECK ((((allowed_networks)::cidr[])::text[] = allowed_networks)),
    CONSTRAINT api_keys_expires_at_representable CHECK ((isfinite(expires_at) AND (expires_at < '10000-01-01 00:00:00+00'::timestamp with time zone))),
    CONSTRAINT api_keys_revoked_at_representable CHECK ((isfinite(revoked_at) AND (revoked_at < '10000-01-01 00:00:00+00'::timestamp with time zone))),
    CONSTRAINT api_keys_scopes_form CHECK ((array_to_string(scopes, ','::text) ~ '^([a-z]+:(read|write)(,([a-z]+:(read|write)))*)?$'::text))
);

CREATE TABLE public.audit_events (
    id bigint NOT NULL,
    at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    before jsonb,
    after jsonb NOT NULL
);

CREATE SEQUENCE public.audit_events_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.audit_events_id_seq OWNED BY public.audit_events.id;

CREATE TABLE public.orders (
    id bigint NOT NULL,
    quota_id uuid NOT NULL,
    pet_id bigint NOT NULL,
    quantity integer NOT NULL,
    ship_date timestamp(3) with time zone,
    status public.order_status DEFAULT 'placed'::public.order_status NOT NULL,
    complete boolean DEFAULT false NOT NULL,
    CONSTRAINT orders_quantity_check CHECK ((quantity >= 1))
);

CREATE SEQUENCE public.orders_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.orders_id_seq OWNED BY public.orders.id;

CREATE TABLE public.pets (
    id bigint NOT NULL,
    name text NOT NULL,
    category_id bigint NOT NULL,
    status public.pet_status,
    CONSTRAINT pets_name_length CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255)))
);

CREATE SEQUENCE public.pets_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.pets_id_seq OWNED BY public.pets.id;

CREATE TABLE public.plans (
    name text NOT NULL,
    per_minute integer,
    per_day integer,
    CONSTRAINT plans_both_limits_or_none CHECK (((per_minute IS NULL) = (per_day IS NULL))),
    CONSTRAINT plans_limits_positive CHECK (((per_minute > 0) AND (per_day > 0)))
);

CREATE TABLE public.quotas (
    id uuid NOT NULL,
    plan text NOT NULL,
    per_minute integer,
    per_day integer,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    CONSTRAINT quotas_both_limits_or_none CHECK (((per_minute IS NULL) = (per_day IS NULL))),
    CONSTRAINT quotas_limits_positive CHECK (((per_minute > 0) AND (per_day > 0)))
);

CREATE TABLE public.rate_limit_counters (
    bucket_key text NOT NULL,
    minute integer NOT NULL,
    minute_used integer NOT NULL,
    minute_limit integer NOT NULL,
    day integer NOT NULL,
    day_used integer NOT NULL,
    day_limit integer,
    ban_threshold bigint,
    requests integer DEFAULT 0 NOT NULL,
    allowed integer NOT NULL,
    denied integer DEFAULT 0 NOT NULL,
    refusals integer DEFAULT 0 NOT NULL,
    banned_until timestamp(3) with time zone,
    ban_level integer DEFAULT 0 NOT NULL
)
WITH (fillfactor='50', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_cost_delay='0');

CREATE TABLE public.stored_responses (
    quota_id uuid NOT NULL,
    key text NOT NULL,
    fingerprint bytea NOT NULL,
    body text NOT NULL,
    location text,
    stored_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE public.usage (
    key_id uuid NOT NULL,
    quota_id uuid NOT NULL,
    period public.usage_period NOT NULL,
    starts_at timestamp(0) with time zone NOT NULL,
    operation text NOT NULL,
    deprecated boolean NOT NULL,
    succeeded bigint NOT NULL,
    redirected bigint NOT NULL,
    client_errors bigint NOT NULL,
    server_errors bigint NOT NULL,
    refusals bigint NOT NULL,
    last_at timestamp(3) with time zone NOT NULL
)
WITH (fillfactor='85');

CREATE TABLE public.usage_batches (
    id uuid NOT NULL,
    written_at timestamp(3) with time zone NOT NULL,
    size integer NOT NULL,
    entries json NOT NULL
);

CREATE TABLE public.webhook_deliveries (
    id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    event text NOT NULL,
    event_key text NOT NULL,
    payload json NOT NULL,
    state public.webhook_delivery_state DEFAULT 'pending'::public.webhook_delivery_state NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    last_attempt_at timestamp(3) with time zone,
    last_failure text,
    response_status integer,
    response_body text,
    next_attempt_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP
);

CREATE TABLE public.webhooks (
    id uuid NOT NULL,
    url text NOT NULL,
    events text[],
    paused boolean DEFAULT false NOT NULL,
    secret text NOT NULL,
    previous_secret text,
    previous_secret_ends_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);

ALTER TABLE ONLY public.audit_events ALTER COLUMN id SET DEFAULT nextval('public.audit_events_id_seq'::regclass);

ALTER TABLE ONLY public.orders ALTER COLUMN id SET DEFAULT nextval('public.orders_id_seq'::regclass);

ALTER TABLE ONLY public.pets ALTER COLUMN id SET DEFAULT nextval('public.pets_id_seq'::regclass);

INSERT INTO public._prisma_migrations VALUES
	('e8a17f41-74e8-4f01-a239-e1a51a5b11d8', '702954822c06d4e64301096e57c8a90351c0036ec313144055f6dc818b40e7f7', '2026-11-28 05:59:06.402+00', '20261123000000_init', NULL, NULL, '2026-11-28 05:59:06.19+00', 1);

INSERT INTO public.api_keys VALUES
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'administrator', NULL, 'admin', '{}', '{}', '\xce70d5c8a7b0c4da5f82408893bfe200b3799739fdd4a64fbe493013c037bd98', 'ask_test_', 'mH4Y', '2026-11-28 05:59:09.567+00', NULL, NULL, NULL, NULL),
	('01a220bc-9934-7309-a5b8-bef63f53bde0', '01a220bc-98cb-723c-b0cf-8bfff641a25e', 'own limits', NULL, 'client', '{}', '{}', '\x18b7ca2663f16dc700f959c460ba2fe8183965f1794dff0d76ef34cea4ed0349', 'ask_test_', '6Ybu', '2026-11-28 05:59:20.629+00', NULL, NULL, NULL, NULL),
	('01a220bc-9aa0-741e-899a-6ae89931f575', '01a220bc-9a94-76e6-aeec-f29b958931e3', 'banned', NULL, 'client', '{}', '{}', '\x42b1c706f6827b3a2479820d231230ee8c9d677b75fab17980c6f51bd2f6d2b7', 'ask_test_', 'MfM5', '2026-11-28 05:59:20.992+00', NULL, NULL, NULL, NULL),
	('01a220bc-9b4a-7778-b278-36da76d31fff', '01a220bc-9b46-7042-99f7-24ad95a9f4a8', 'formerly banned', NULL, 'client', '{}', '{}', '\xdd67a3078520bd4525b150eb16f998b57449d02e69d8109ee532c605397c888f', 'ask_test_', 'xhpu', '2026-11-28 05:59:21.162+00', NULL, NULL, NULL, NULL),
	('01a220bc-9c24-742d-959c-faf351609bdb', '01a220bc-9c21-7190-a14b-f68562fc78a7', 'unbanned', NULL, 'client', '{}', '{}', '\x29fdf1229057547e8b0b65436d7213eb9320ef41ba889f3980e2a93e4a375ef9', 'ask_test_', 'YGtw', '2026-11-28 05:59:21.38+00', NULL, NULL, NULL, NULL),
	('01a220bc-9db1-7096-8b7d-07c20a2cee2d', '01a220bc-9d9b-7020-bd08-ff4f4f002b2f', 'near day limit', NULL, 'client', '{}', '{}', '\xcb1813cce9c70ef8d057aaa35215cf3f8daa9be11639bc8416a58b127f065496', 'ask_test_', '5y89', '2026-11-28 05:59:21.777+00', NULL, NULL, NULL, NULL),
	('01a220bc-9fe9-75b4-8f26-b184a147cf32', '01a220bc-9fbc-75c9-beb3-3e75643a3b09', 'at day limit', NULL, 'client', '{}', '{}', '\x257d4241ef4e65e6ebd5591988360e5a76e341d8a3b946b65261d7fc39ca1619', 'ask_test_', 'W1Lq', '2026-11-28 05:59:22.345+00', NULL, NULL, NULL, NULL),
	('01a220bc-a0bb-77cc-84ec-f1cde5f4a4ae', '01a220bc-a0a7-75ba-b70f-fd4c1224df58', 'near its ban', NULL, 'client', '{}', '{}', '\x43c367a2c87b869b35365d48f8602ec8fe2f78498feae65345cd9efb14937482', 'ask_test_', 'kIDl', '2026-11-28 05:59:22.555+00', NULL, NULL, NULL, NULL),
	('01a220bc-a1c5-758e-a0ee-4b81edc904c3', '01a220bc-a181-732b-9ad2-28bd91575fa6', 'expiring', NULL, 'client', '{}', '{}', '\x74f1a675fd1103eaafb22903c7c73981838c810c441ca36584fdc183937a5ace', 'ask_test_', 'PIzy', '2026-11-28 05:59:22.821+00', '2026-12-03 05:59:22.692+00', NULL, NULL, NULL),
	('01a220bc-a251-709f-a9cf-2a1dd7a47846', '01a220bc-a23c-734d-8bf0-65f37c99dfe6', 'expired', NULL, 'client', '{}', '{}', '\x2686cb952efc027c3a7889d011f818b860cc3aae109a47eeac54a5cbfc04d365', 'ask_test_', 'YFFy', '2026-11-28 05:59:22.961+00', '2026-11-28 05:59:25.365+00', NULL, NULL, NULL),
	('01a220bc-a3ce-705d-85fc-624198f58470', '01a220bc-a3b4-76c3-bf8b-9a30327c2dbb', 'auditor', NULL, 'admin', '{admin:read}', '{}', '\x3f6c20cd9b006fd72de269b3bb084f669ec7374196dde4d646563676d0441d4a', 'ask_test_', '9ZJ6', '2026-11-28 05:59:23.342+00', NULL, NULL, NULL, NULL),
	('01a220bc-9745-775d-a0a1-4c80f41ed06c', '01a220bc-9729-75ad-b436-ac1718cccfbe', 'networked', NULL, 'client', '{}', '{203.0.113.0/24,2001:db8::/32,127.0.0.0/8}', '\x00850ee87b1d68ae2cdba476c68e6cce3694872d77d8e11d337c6922d80800c3', 'ask_test_', 'NyvG', '2026-11-28 05:59:20.164+00', NULL, NULL, NULL, NULL),
	('01a220bc-9571-76db-aaa5-aaa23b62ffb1', '01a220bc-9536-7172-ae42-1d4971d84c47', 'scoped', 'Reads only.', 'client', '{pets:read,orders:read}', '{}', '\x1bb51bf3f618a3ca064bfae0bab321c27799b37cc789341cec8525a094f227eb', 'ask_test_', 'TNP5', '2026-11-28 05:59:19.665+00', NULL, NULL, NULL, NULL),
	('01a220bc-a31f-713f-8f52-4fbb55200a5a', '01a220bc-a308-778b-97ea-c737493504ea', 'rotating', NULL, 'client', '{}', '{}', '\xe0f7d6aa6035f3688118bcb9f9902e3981e6a9ecefaa343af56831747b56735a', 'ask_test_', 'U5TA', '2026-11-28 05:59:23.167+00', '2026-12-28 05:59:24.654+00', NULL, NULL, NULL),
	('01a220bc-a954-753b-b377-5bb10082ca02', '01a220bc-a308-778b-97ea-c737493504ea', 'rotating', NULL, 'client', '{}', '{}', '\xb9a124e98a7d5c774ebd243cb722bfdbadf975f5d2a5e812f363819b958e0486', 'ask_test_', 'n81G', '2026-11-28 05:59:24.654+00', NULL, NULL, '01a220bc-a31f-713f-8f52-4fbb55200a5a', NULL),
	('01a220bc-a369-7393-87e2-a18211b0aed5', '01a220bc-a365-778a-a7cb-d0d349921ef1', 'rotated by its holder', NULL, 'client', '{}', '{}', '\x4d3b16a6af05161334706ad6987dd80b47c15438c937c1d0baf61d2dbf7ab5b6', 'ask_test_', 't2k4', '2026-11-28 05:59:23.241+00', '2026-12-28 05:59:24.971+00', NULL, NULL, NULL),
	('01a220bc-aa85-743c-8a9a-a6031c4d39f3', '01a220bc-a365-778a-a7cb-d0d349921ef1', 'rotated by its holder', NULL, 'client', '{}', '{}', '\x1a0fcc4c9366802a80a94901f41a022e340cb29641027861ed72d6b46cfad42c', 'ask_test_', 'Xo5u', '2026-11-28 05:59:24.971+00', NULL, NULL, '01a220bc-a369-7393-87e2-a18211b0aed5', NULL),
	('01a220bc-a284-7597-aea2-d654fc345412', '01a220bc-a27f-73fd-b46d-a4ae083d9601', 'revoked', NULL, 'client', '{}', '{}', '\xf0a5a08798d97b1c7299cd70841bb0aab57d61ff1cd1d4ace067a719d03ebc39', 'ask_test_', 'YiLg', '2026-11-28 05:59:23.013+00', NULL, '2026-11-28 05:59:25.485+00', NULL, NULL),
	('01a220bc-a2c0-72ba-88c4-903083f7e0df', '01a220bc-a2bc-71eb-a0e3-b7893cb2f9f1', 'leaked', NULL, 'client', '{}', '{}', '\xd13229f5cbd93fc91910930dab461abe493923946057fec2218a89f002af18ed', 'ask_test_', 'LdFE', '2026-11-28 05:59:23.072+00', NULL, '2026-11-28 05:59:26.002+00', NULL, NULL),
	('01a220bc-bdc2-7544-bbec-c4425b2f91aa', '01a220bc-bdc0-74e9-9ca6-298f904acc5f', 'of the added plan', NULL, 'client', '{}', '{}', '\xcce7d6a95368f57bfd6a1aac4786b3f2ae53e0802a7031ad07553631709a29ee', 'ask_test_', 'Mb5x', '2026-11-28 05:59:29.986+00', NULL, NULL, NULL, NULL),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'client', 'Calls at night.', 'client', '{}', '{}', '\x82b9b3e339748ac44c9d8d40423878671013eee9b853b8b8425e5bcbb9a52045', 'ask_test_', 'WeCk', '2026-11-28 05:59:18.806+00', NULL, NULL, NULL, NULL),
	('01a220bc-d908-752c-b9f7-6ac46685ebe9', '01a220bc-d8ec-765a-b1ff-27cb437a78e6', 'issuer', NULL, 'client', '{pets:read,pets:write,orders:read,orders:write,keys:write}', '{}', '\xbbfe477126274d2f77b143b527d1fafd7b5305da00c6b8e40e44a603119299e1', 'ask_test_', 'nic2', '2026-11-28 05:59:36.968+00', NULL, NULL, NULL, NULL),
	('01a220bc-da00-779a-95fd-04ebcf933c2d', '01a220bc-d8ec-765a-b1ff-27cb437a78e6', 'issued by its holder', NULL, 'client', '{pets:read}', '{}', '\x6eaa2983e3ed54a8cdc775fbdac7c2b9e9ca414bd6c7920249c006e3f6ff8e0d', 'ask_test_', 'Qm6E', '2026-11-28 05:59:37.216+00', NULL, NULL, NULL, '01a220bc-d908-752c-b9f7-6ac46685ebe9'),
	('01a220bc-daa7-7089-9822-4ced99532267', '01a220bc-d8ec-765a-b1ff-27cb437a78e6', 'issued and revoked', NULL, 'client', '{pets:read,pets:write,orders:read,orders:write}', '{}', '\xebfefb7095d23f47c1449d9cea0b04dbbf091600e82f92f1b4cc1463ba4d25e2', 'ask_test_', '4wlV', '2026-11-28 05:59:37.383+00', NULL, '2026-11-28 05:59:37.688+00', NULL, '01a220bc-d908-752c-b9f7-6ac46685ebe9'),
	('01a220bc-dcc0-774a-b605-3cb5d5541ff2', '01a220bc-9160-7198-8495-0a344c5a338d', 'sharing', NULL, 'client', '{}', '{}', '\x32a1e4954a3d08747958e6c7445646504de3bb9f3b9e23cfd19ad1bc7d19993f', 'ask_test_', 'LFZM', '2026-11-28 05:59:37.92+00', NULL, NULL, NULL, NULL);

INSERT INTO public.audit_events VALUES
	(1, '2026-11-28 05:59:09.754+00', 'terminal:ann', 'key.issued', 'key:01a220bc-6dfe-728a-99b5-5beb13eb964e', NULL, '{"name": "administrator", "plan": "business", "role": "admin", "perDay": 100000, "scopes": null, "expiresAt": null, "ownLimits": false, "perMinute": 1000, "allowedNetworks": null}'),
	(2, '2026-11-28 05:59:16.097+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'webhook.created', 'webhook:01a220bc-876b-710d-9307-036b8629a8a0', NULL, '{"url": "http://127.0.0.1:18090", "events": ["quota.day_limit_80", "quota.day_limit_reached", "quota.banned", "key.expiring", "key.rotated", "key.revoked", "operation.deprecated_called"], "paused": false}'),
	(3, '2026-11-28 05:59:16.989+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'webhook.created', 'webhook:01a220bc-8ad5-7224-86d9-ba610c91bdef', NULL, '{"url": "http://127.0.0.1:18090", "events": ["key.revoked", "operation.deprecated_called", "quota.day_limit_80"], "paused": false}'),
	(4, '2026-11-28 05:59:17.217+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'webhook.created', 'webhook:01a220bc-8bc6-7122-98a5-a88ab2a8b76b', NULL, '{"url": "http://127.0.0.1:18090", "events": ["key.revoked"], "paused": false}'),
	(5, '2026-11-28 05:59:17.596+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'webhook.secret_rotated', 'webhook:01a220bc-876b-710d-9307-036b8629a8a0', '{"previousSecretEndsAt": null}', '{"previousSecretEndsAt": "2026-11-29T05:59:17.575Z"}'),
	(6, '2026-11-28 05:59:18.094+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'webhook.deleted', 'webhook:01a220bc-8bc6-7122-98a5-a88ab2a8b76b', '{"url": "http://127.0.0.1:18090", "events": ["key.revoked"], "paused": false}', '{}'),
	(7, '2026-11-28 05:59:18.918+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'key.issued', 'key:01a220bc-9216-7743-aa68-5973f7b8e3ed', NULL, '{"name": "client", "note": "Calls at night.", "plan": "free", "role": "client", "perDay": 1000, "scopes": null, "expiresAt": null, "ownLimits": false, "perMinute": 60, "allowedNetworks": null}'),
	(8, '2026-11-28 05:59:19.801+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'key.issued', 'key:01a220bc-9571-76db-aaa5-aaa23b62ffb1', NULL, '{"name": "scoped", "note": "Reads only.", "plan": "pro", "role": "client", "perDay": 10000, "scopes": ["pets:read"], "expiresAt": null, "ownLimits": false, "perMinute": 300, "allowedNetworks": null}'),
	(9, '2026-11-28 05:59:20.24+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'key.issued', 'key:01a220bc-9745-775d-a0a1-4c80f41ed06c', NULL, '{"name": "networked", "plan": "pro", "role": "client", "perDay": 10000, "scopes": null, "expiresAt": null, "ownLimits": false, "perMinute": 300, "allowedNetworks": ["203.0.113.0/24", "2001:db8::/32"]}'),
	(10, '2026-11-28 05:59:20.749+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'key.issued', 'key:01a220bc-9934-7309-a5b8-bef63f53bde0', NULL, '{"name": "own limits", "plan": "enterprise", "role": "client", "perDay": 1000000, "scopes": null, "expiresAt": null, "ownLimits": true, "perMinute": 5000, "allowedNetworks": null}'),
	(11, '2026-11-28 05:59:21.048+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'key.issued', 'key:01a220bc-9aa0-741e-899a-6ae89931f575', NULL, '{"name": "banned", "plan": "free", "role": "client", "perDay": 1000, "scopes": null, "expiresAt": null, "ownLimits": true, "perMinute": 3, "allowedNetworks": null}'),
	(12, '2026-11-28 05:59:21.216+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'key.issued', 'key:01a220bc-9b4a-7778-b278-36da76d31fff', NULL, '{"name": "formerly banned", "plan": "free", "role": "client", "perDay": 1000, "scopes": null, "expiresAt": null, "ownLimits": true, "perMinute": 3, "allowedNetworks": null}'),
	(13, '2026-11-28 05:59:21.448+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'key.issued', 'key:01a220bc-9c24-742d-959c-faf351609bdb', NULL, '{"name": "unbanned", "plan": "free", "role": "client", "perDay": 1000, "scopes": null, "expiresAt": null, "ownLimits": true, "perMinute": 2, "allowedNetworks": null}'),
	(14, '2026-11-28 05:59:21.876+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'key.issued', 'key:01a220bc-9db1-7096-8b7d-07c20a2cee2d', NULL, '{"name": "near day limit", "plan": "business", "role": "client", "perDay": 10, "scopes": null, "expiresAt": null, "ownLimits": true, "perMinute": 100, "allowedNetworks": null}'),
	(15, '2026-11-28 05:59:22.434+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'key.issued', 'key:01a220bc-9fe9-75b4-8f26-b184a147cf32', NULL, '{"name": "at day limit", "plan": "business", "role": "client", "perDay": 5, "scopes": null, "expiresAt": null, "ownLimits": true, "perMinute": 100, "allowedNetworks": null}'),
	(16, '2026-11-28 05:59:22.615+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'key.issued', 'key:01a220bc-a0bb-77cc-84ec-f1cde5f4a4ae', NULL, '{"name": "near its ban", "plan": "free", "role": "client", "perDay": 1000, "scopes": null, "expiresAt": null, "ownLimits": true, "perMinute": 3, "allowedNetworks": null}'),
	(17, '2026-11-28 05:59:22.861+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'key.issued', 'key:01a220bc-a1c5-758e-a0ee-4b81edc904c3', NULL, '{"name": "expiring", "plan": "free", "role": "client", "perDay": 1000, "scopes": null, "expiresAt": "2026-12-03T05:59:22.692Z", "ownLimits": false, "perMinute": 60, "allowedNetworks": null}'),
	(18, '2026-11-28 05:59:22.971+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'key.issued', 'key:01a220bc-a251-709f-a9cf-2a1dd7a47846', NULL, '{"name": "expired", "plan": "free", "role": "client", "perDay": 1000, "scopes": null, "expiresAt": "2026-11-28T05:59:25.365Z", "ownLimits": false, "perMinute": 60, "allowedNetworks": null}'),
	(19, '2026-11-28 05:59:23.028+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'key.issued', 'key:01a220bc-a284-7597-aea2-d654fc345412', NULL, '{"name": "revoked", "plan": "free", "role": "client", "perDay": 1000, "scopes": null, "expiresAt": null, "ownLimits": false, "perMinute": 60, "allowedNetworks": null}'),
	(20, '2026-11-28 05:59:23.094+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'key.issued', 'key:01a220bc-a2c0-72ba-88c4-903083f7e0df', NULL, '{"name": "leaked", "plan": "free", "role": "client", "perDay": 1000, "scopes": null, "expiresAt": null, "ownLimits": false, "perMinute": 60, "allowedNetworks": null}'),
	(21, '2026-11-28 05:59:23.208+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'key.issued', 'key:01a220bc-a31f-713f-8f52-4fbb55200a5a', NULL, '{"name": "rotating", "plan": "pro", "role": "client", "perDay": 10000, "scopes": null, "expiresAt": null, "ownLimits": false, "perMinute": 300, "allowedNetworks": null}'),
	(22, '2026-11-28 05:59:23.253+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'key.issued', 'key:01a220bc-a369-7393-87e2-a18211b0aed5', NULL, '{"name": "rotated by its holder", "plan": "pro", "role": "client", "perDay": 10000, "scopes": null, "expiresAt": null, "ownLimits": false, "perMinute": 300, "allowedNetworks": null}'),
	(23, '2026-11-28 05:59:23.394+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'key.issued', 'key:01a220bc-a3ce-705d-85fc-624198f58470', NULL, '{"name": "auditor", "plan": "business", "role": "admin", "perDay": 100000, "scopes": ["admin:read"], "expiresAt": null, "ownLimits": false, "perMinute": 1000, "allowedNetworks": null}'),
	(24, '2026-11-28 05:59:23.574+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'key.plan_changed', 'key:01a220bc-9934-7309-a5b8-bef63f53bde0', '{"plan": "enterprise", "perDay": 1000000, "ownLimits": true, "perMinute": 5000}', '{"plan": "enterprise", "perDay": 2000000, "ownLimits": true, "perMinute": 6000}'),
	(25, '2026-11-28 05:59:23.937+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'key.labeled', 'key:01a220bc-9216-7743-aa68-5973f7b8e3ed', '{"name": "client", "note": "Calls at night."}', '{"name": "client", "note": "Calls by day."}'),
	(26, '2026-11-28 05:59:24.312+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'key.restricted', 'key:01a220bc-9745-775d-a0a1-4c80f41ed06c', '{"scopes": null, "allowedNetworks": ["203.0.113.0/24", "2001:db8::/32"]}', '{"scopes": null, "allowedNetworks": ["203.0.113.0/24", "2001:db8::/32", "127.0.0.0/8"]}'),
	(27, '2026-11-28 05:59:24.58+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'key.restricted', 'key:01a220bc-9571-76db-aaa5-aaa23b62ffb1', '{"scopes": ["pets:read"], "allowedNetworks": null}', '{"scopes": ["pets:read", "orders:read"], "allowedNetworks": null}'),
	(28, '2026-11-28 05:59:24.773+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'key.rotated', 'key:01a220bc-a31f-713f-8f52-4fbb55200a5a', '{"expiresAt": null, "successorId": null}', '{"expiresAt": "2026-12-28T05:59:24.654Z", "successorId": "01a220bc-a954-753b-b377-5bb10082ca02", "successorExpiresAt": null}'),
	(29, '2026-11-28 05:59:25.118+00', '01a220bc-a369-7393-87e2-a18211b0aed5', 'key.rotated', 'key:01a220bc-a369-7393-87e2-a18211b0aed5', '{"expiresAt": null, "successorId": null}', '{"expiresAt": "2026-12-28T05:59:24.971Z", "successorId": "01a220bc-aa85-743c-8a9a-a6031c4d39f3", "successorExpiresAt": null}'),
	(30, '2026-11-28 05:59:25.581+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'key.revoked', 'key:01a220bc-a284-7597-aea2-d654fc345412', '{"revokedAt": null}', '{"revokedAt": "2026-11-28T05:59:25.485Z"}'),
	(31, '2026-11-28 05:59:26.037+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'key.revoked', 'key:01a220bc-a2c0-72ba-88c4-903083f7e0df', '{"revokedAt": null}', '{"revokedAt": "2026-11-28T05:59:26.002Z"}'),
	(32, '2026-11-28 05:59:28.88+00', 'terminal:ann', 'plan.changed', 'plan:free', '{"perDay": 1000, "perMinute": 60}', '{"perDay": 900, "perMinute": 30}'),
	(33, '2026-11-28 05:59:29.917+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'plan.created', 'plan:startup', NULL, '{"perDay": 3000, "perMinute": 120}'),
	(34, '2026-11-28 05:59:29.99+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'key.issued', 'key:01a220bc-bdc2-7544-bbec-c4425b2f91aa', NULL, '{"name": "of the added plan", "plan": "startup", "role": "client", "perDay": 3000, "scopes": null, "expiresAt": null, "ownLimits": false, "perMinute": 120, "allowedNetworks": null}'),
	(35, '2026-11-28 05:59:34.788+00', 'terminal:bob', 'key.labeled', 'key:01a220bc-9216-7743-aa68-5973f7b8e3ed', '{"name": "client", "note": "Calls by day."}', '{"name": "client", "note": "Calls at night."}'),
	(36, '2026-11-28 05:59:37.044+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'key.issued', 'key:01a220bc-d908-752c-b9f7-6ac46685ebe9', NULL, '{"name": "issuer", "plan": "business", "role": "client", "perDay": 100000, "scopes": ["pets:read", "pets:write", "orders:read", "orders:write", "keys:write"], "expiresAt": null, "ownLimits": false, "perMinute": 1000, "allowedNetworks": null}'),
	(37, '2026-11-28 05:59:37.241+00', '01a220bc-d908-752c-b9f7-6ac46685ebe9', 'key.issued', 'key:01a220bc-da00-779a-95fd-04ebcf933c2d', NULL, '{"name": "issued by its holder", "plan": "business", "role": "client", "perDay": 100000, "scopes": ["pets:read"], "expiresAt": null, "ownLimits": false, "perMinute": 1000, "allowedNetworks": null}'),
	(38, '2026-11-28 05:59:37.396+00', '01a220bc-d908-752c-b9f7-6ac46685ebe9', 'key.issued', 'key:01a220bc-daa7-7089-9822-4ced99532267', NULL, '{"name": "issued and revoked", "plan": "business", "role": "client", "perDay": 100000, "scopes": ["pets:read", "pets:write", "orders:read", "orders:write"], "expiresAt": null, "ownLimits": false, "perMinute": 1000, "allowedNetworks": null}'),
	(39, '2026-11-28 05:59:37.704+00', '01a220bc-d908-752c-b9f7-6ac46685ebe9', 'key.revoked', 'key:01a220bc-daa7-7089-9822-4ced99532267', '{"revokedAt": null}', '{"revokedAt": "2026-11-28T05:59:37.688Z"}'),
	(40, '2026-11-28 05:59:37.95+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'key.issued', 'key:01a220bc-dcc0-774a-b605-3cb5d5541ff2', NULL, '{"name": "sharing", "plan": "free", "role": "client", "perDay": 900, "scopes": null, "expiresAt": null, "ownLimits": false, "perMinute": 30, "allowedNetworks": null}'),
	(41, '2026-11-28 05:59:42.792+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'key.unbanned', 'key:01a220bc-9c24-742d-959c-faf351609bdb', '{"bannedUntil": "2026-11-28T17:59:42.343Z"}', '{"bannedUntil": null}'),
	(42, '2026-11-28 05:59:46.11+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'webhook.changed', 'webhook:01a220bc-876b-710d-9307-036b8629a8a0', '{"url": "http://127.0.0.1:18090", "events": ["quota.day_limit_80", "quota.day_limit_reached", "quota.banned", "key.expiring", "key.rotated", "key.revoked", "operation.deprecated_called"], "paused": false}', '{"url": "http://127.0.0.1:18090", "events": ["quota.day_limit_80", "quota.day_limit_reached", "quota.banned", "key.expiring", "key.rotated", "key.revoked", "operation.deprecated_called"], "paused": false}'),
	(43, '2026-11-28 05:59:46.221+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'webhook.tested', 'webhook:01a220bc-876b-710d-9307-036b8629a8a0', NULL, '{"event": "webhook.test", "delivery": "01a220bc-fcfb-7c31-85ce-6f096660c7dc"}'),
	(44, '2026-11-28 06:00:19.46+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'webhook.delivery_resent', 'webhook:01a220bc-876b-710d-9307-036b8629a8a0', NULL, '{"event": "webhook.test", "delivery": "01a220bc-fcfb-7c31-85ce-6f096660c7dc"}'),
	(45, '2026-11-28 06:00:21.401+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'webhook.created', 'webhook:01a220bd-85c9-70cd-a84e-7c0d08381df7', NULL, '{"url": "http://127.0.0.1:18090", "events": ["key.rotated", "quota.day_limit_80"], "paused": false}'),
	(46, '2026-11-28 06:00:21.476+00', '01a220bc-6dfe-728a-99b5-5beb13eb964e', 'webhook.changed', 'webhook:01a220bd-85c9-70cd-a84e-7c0d08381df7', '{"url": "http://127.0.0.1:18090", "events": ["key.rotated", "quota.day_limit_80"], "paused": false}', '{"url": "http://127.0.0.1:18090", "events": ["key.rotated", "quota.day_limit_80"], "paused": true}'),
	(47, '2026-11-28 06:00:21.59+00', 'terminal', 'key.issued', 'key:01a220bc-6dfe-728a-99b5-5beb13eb964e', NULL, '{"name": "administrator", "plan": "business", "role": "admin", "perDay": 100000, "scopes": null, "expiresAt": null, "ownLimits": false, "perMinute": 1000, "allowedNetworks": null}');

INSERT INTO public.orders VALUES
	(1, '01a220bc-9160-7198-8495-0a344c5a338d', 1, 2, '2026-12-24 18:00:00+00', 'placed', false),
	(4, '01a220bc-98cb-723c-b0cf-8bfff641a25e', 3, 1, NULL, 'placed', false),
	(2, '01a220bc-9160-7198-8495-0a344c5a338d', 2, 1, NULL, 'approved', false),
	(3, '01a220bc-9160-7198-8495-0a344c5a338d', 2, 3, NULL, 'delivered', true);

INSERT INTO public.pets VALUES
	(1, 'Rex', 7, 'available'),
	(2, 'Tom', 7, 'pending'),
	(3, 'Ida', 7, 'sold'),
	(4, 'Zoë 🐈', 7, NULL),
	(5, 'Max', 9223372036854775807, 'available');

INSERT INTO public.plans VALUES
	('pro', 300, 10000),
	('business', 1000, 100000),
	('enterprise', NULL, NULL),
	('free', 30, 900),
	('startup', 120, 3000);

INSERT INTO public.quotas VALUES
	('01a220bc-6d9a-7166-ac56-3a23c5eac256', 'business', NULL, NULL, '2026-11-28 05:59:09.467+00'),
	('01a220bc-9160-7198-8495-0a344c5a338d', 'free', NULL, NULL, '2026-11-28 05:59:18.624+00'),
	('01a220bc-9536-7172-ae42-1d4971d84c47', 'pro', NULL, NULL, '2026-11-28 05:59:19.606+00'),
	('01a220bc-9729-75ad-b436-ac1718cccfbe', 'pro', NULL, NULL, '2026-11-28 05:59:20.105+00'),
	('01a220bc-9a94-76e6-aeec-f29b958931e3', 'free', 3, 1000, '2026-11-28 05:59:20.98+00'),
	('01a220bc-9b46-7042-99f7-24ad95a9f4a8', 'free', 3, 1000, '2026-11-28 05:59:21.158+00'),
	('01a220bc-9c21-7190-a14b-f68562fc78a7', 'free', 2, 1000, '2026-11-28 05:59:21.377+00'),
	('01a220bc-9d9b-7020-bd08-ff4f4f002b2f', 'business', 100, 10, '2026-11-28 05:59:21.755+00'),
	('01a220bc-9fbc-75c9-beb3-3e75643a3b09', 'business', 100, 5, '2026-11-28 05:59:22.3+00'),
	('01a220bc-a0a7-75ba-b70f-fd4c1224df58', 'free', 3, 1000, '2026-11-28 05:59:22.543+00'),
	('01a220bc-a181-732b-9ad2-28bd91575fa6', 'free', NULL, NULL, '2026-11-28 05:59:22.753+00'),
	('01a220bc-a23c-734d-8bf0-65f37c99dfe6', 'free', NULL, NULL, '2026-11-28 05:59:22.94+00'),
	('01a220bc-a27f-73fd-b46d-a4ae083d9601', 'free', NULL, NULL, '2026-11-28 05:59:23.007+00'),
	('01a220bc-a2bc-71eb-a0e3-b7893cb2f9f1', 'free', NULL, NULL, '2026-11-28 05:59:23.068+00'),
	('01a220bc-a308-778b-97ea-c737493504ea', 'pro', NULL, NULL, '2026-11-28 05:59:23.144+00'),
	('01a220bc-a365-778a-a7cb-d0d349921ef1', 'pro', NULL, NULL, '2026-11-28 05:59:23.237+00'),
	('01a220bc-a3b4-76c3-bf8b-9a30327c2dbb', 'business', NULL, NULL, '2026-11-28 05:59:23.316+00'),
	('01a220bc-bdc0-74e9-9ca6-298f904acc5f', 'startup', NULL, NULL, '2026-11-28 05:59:29.984+00'),
	('01a220bc-d8ec-765a-b1ff-27cb437a78e6', 'business', NULL, NULL, '2026-11-28 05:59:36.94+00'),
	('01a220bc-98cb-723c-b0cf-8bfff641a25e', 'enterprise', 6000, 2000000, '2026-11-28 05:59:20.523+00');

INSERT INTO public.rate_limit_counters VALUES
	('quota:01a220bc-a365-778a-a7cb-d0d349921ef1', 29930759, 2, 300, 20785, 2, 10000, NULL, 1, 1, 0, 0, NULL, 0),
	('quota:01a220bc-6d9a-7166-ac56-3a23c5eac256', 29930760, 14, 1000, 20785, 68, 100000, NULL, 1, 1, 0, 0, NULL, 0),
	('status:01a220bc-9160-7198-8495-0a344c5a338d', 29930759, 1, 60, 20785, 1, NULL, NULL, 1, 1, 0, 0, NULL, 0),
	('quota:01a220bc-98cb-723c-b0cf-8bfff641a25e', 29930760, 2, 6000, 20785, 4, 2000000, NULL, 1, 1, 0, 0, NULL, 0),
	('quota:01a220bc-d8ec-765a-b1ff-27cb437a78e6', 29930760, 1, 1000, 20785, 7, 100000, NULL, 1, 1, 0, 0, NULL, 0),
	('quota:01a220bc-9536-7172-ae42-1d4971d84c47', 29930759, 1, 300, 20785, 1, 10000, NULL, 1, 1, 0, 0, NULL, 0),
	('quota:01a220bc-9729-75ad-b436-ac1718cccfbe', 29930759, 1, 300, 20785, 1, 10000, NULL, 1, 1, 0, 0, NULL, 0),
	('quota:01a220bc-a308-778b-97ea-c737493504ea', 29930759, 2, 300, 20785, 2, 10000, NULL, 1, 1, 0, 0, NULL, 0),
	('quota:01a220bc-a181-732b-9ad2-28bd91575fa6', 29930759, 1, 30, 20785, 1, 900, NULL, 1, 1, 0, 0, NULL, 0),
	('quota:01a220bc-9160-7198-8495-0a344c5a338d', 29930760, 7, 30, 20785, 37, 900, 30, 1, 1, 0, 0, NULL, 0),
	('quota:01a220bc-9d9b-7020-bd08-ff4f4f002b2f', 29930759, 8, 100, 20785, 8, 10, NULL, 1, 1, 0, 0, NULL, 0),
	('quota:01a220bc-9fbc-75c9-beb3-3e75643a3b09', 29930759, 5, 100, 20785, 5, 5, NULL, 1, 1, 0, 0, NULL, 0),
	('address:127.0.0.1', 29930759, 2, 300, 20785, 2, NULL, NULL, 1, 1, 0, 0, NULL, 0),
	('quota:01a220bc-9b46-7042-99f7-24ad95a9f4a8', 29930759, 3, 3, 20785, 3, 1000, 3, 6, 2, 3, 0, '2026-11-28 05:59:41.839+00', 1),
	('quota:01a220bc-9a94-76e6-aeec-f29b958931e3', 29930759, 3, 3, 20785, 3, 1000, 3, 1, 0, 0, 0, '2026-11-28 17:59:42.402+00', 2),
	('quota:01a220bc-9c21-7190-a14b-f68562fc78a7', 29930759, 2, 2, 20785, 2, 1000, 2, 4, 0, 2, 0, '2026-11-28 05:59:42.8+00', 2),
	('quota:01a220bc-a3b4-76c3-bf8b-9a30327c2dbb', 29930759, 1, 1000, 20785, 1, 100000, NULL, 1, 1, 0, 0, NULL, 0),
	('quota:01a220bc-a0a7-75ba-b70f-fd4c1224df58', 29930760, 3, 3, 20785, 3, 1000, 3, 1, 0, 1, 1, NULL, 0);

INSERT INTO public.stored_responses VALUES
	('01a220bc-9160-7198-8495-0a344c5a338d', 'pet-of-then', '\x46d3a8e1838ee745b578b0108b9141403e54114a5c7dae2cd1a4690fded34c52', '{"id":5,"name":"Max","categoryId":9223372036854775807,"status":"available"}', '/v1/pets/5', '2026-11-28 05:59:38.105+00'),
	('01a220bc-9160-7198-8495-0a344c5a338d', 'order-of-then', '\xbeea5e7d3b971901679b45edfb3d56f27463590915b5bed8505bfcbda1978639', '{"id":1,"petId":1,"quantity":2,"status":"placed","complete":false,"shipDate":"2026-12-24T18:00:00.000Z"}', NULL, '2026-11-28 05:59:38.13+00');

INSERT INTO public.usage VALUES
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'minute', '2026-11-28 05:59:00+00', 'changePlan', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:23.428+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'minute', '2026-11-28 05:59:00+00', 'createWebhook', false, 3, 0, 0, 0, 0, '2026-11-28 05:59:17.112+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'minute', '2026-11-28 05:59:00+00', 'deleteWebhook', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:17.878+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'minute', '2026-11-28 05:59:00+00', 'labelKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:23.821+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'minute', '2026-11-28 05:59:00+00', 'restrictKey', false, 2, 0, 0, 0, 0, '2026-11-28 05:59:24.485+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'minute', '2026-11-28 05:59:00+00', 'revokeKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:25.42+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'minute', '2026-11-28 05:59:00+00', 'revokeLeakedKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:25.796+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'minute', '2026-11-28 05:59:00+00', 'rotateKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:24.608+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'minute', '2026-11-28 05:59:00+00', 'rotateWebhookSecret', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:17.327+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'minute', '2026-11-28 05:59:00+00', 'setPlan', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:29.878+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'hour', '2026-11-28 05:00:00+00', 'changePlan', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:23.428+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'hour', '2026-11-28 05:00:00+00', 'createWebhook', false, 3, 0, 0, 0, 0, '2026-11-28 05:59:17.112+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'hour', '2026-11-28 05:00:00+00', 'deleteWebhook', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:17.878+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'hour', '2026-11-28 05:00:00+00', 'labelKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:23.821+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'hour', '2026-11-28 05:00:00+00', 'restrictKey', false, 2, 0, 0, 0, 0, '2026-11-28 05:59:24.485+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'hour', '2026-11-28 05:00:00+00', 'revokeKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:25.42+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'hour', '2026-11-28 05:00:00+00', 'revokeLeakedKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:25.796+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'hour', '2026-11-28 05:00:00+00', 'rotateKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:24.608+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'hour', '2026-11-28 05:00:00+00', 'rotateWebhookSecret', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:17.327+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'hour', '2026-11-28 05:00:00+00', 'setPlan', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:29.878+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'day', '2026-11-28 00:00:00+00', 'changePlan', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:23.428+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'day', '2026-11-28 00:00:00+00', 'deleteWebhook', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:17.878+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'day', '2026-11-28 00:00:00+00', 'labelKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:23.821+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'day', '2026-11-28 00:00:00+00', 'restrictKey', false, 2, 0, 0, 0, 0, '2026-11-28 05:59:24.485+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'day', '2026-11-28 00:00:00+00', 'revokeKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:25.42+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'day', '2026-11-28 00:00:00+00', 'revokeLeakedKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:25.796+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'day', '2026-11-28 00:00:00+00', 'rotateKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:24.608+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'day', '2026-11-28 00:00:00+00', 'rotateWebhookSecret', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:17.327+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'day', '2026-11-28 00:00:00+00', 'setPlan', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:29.878+00'),
	('01a220bc-a369-7393-87e2-a18211b0aed5', '01a220bc-a365-778a-a7cb-d0d349921ef1', 'minute', '2026-11-28 05:59:00+00', 'rotateOwnKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:24.913+00'),
	('01a220bc-a369-7393-87e2-a18211b0aed5', '01a220bc-a365-778a-a7cb-d0d349921ef1', 'hour', '2026-11-28 05:00:00+00', 'rotateOwnKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:24.913+00'),
	('01a220bc-a369-7393-87e2-a18211b0aed5', '01a220bc-a365-778a-a7cb-d0d349921ef1', 'day', '2026-11-28 00:00:00+00', 'rotateOwnKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:24.913+00'),
	('01a220bc-d908-752c-b9f7-6ac46685ebe9', '01a220bc-d8ec-765a-b1ff-27cb437a78e6', 'minute', '2026-11-28 05:59:00+00', 'issueTeamKey', false, 2, 0, 0, 0, 0, '2026-11-28 05:59:37.33+00'),
	('01a220bc-d908-752c-b9f7-6ac46685ebe9', '01a220bc-d8ec-765a-b1ff-27cb437a78e6', 'minute', '2026-11-28 05:59:00+00', 'listTeamKeys', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:37.414+00'),
	('01a220bc-d908-752c-b9f7-6ac46685ebe9', '01a220bc-d8ec-765a-b1ff-27cb437a78e6', 'hour', '2026-11-28 05:00:00+00', 'issueTeamKey', false, 2, 0, 0, 0, 0, '2026-11-28 05:59:37.33+00'),
	('01a220bc-d908-752c-b9f7-6ac46685ebe9', '01a220bc-d8ec-765a-b1ff-27cb437a78e6', 'hour', '2026-11-28 05:00:00+00', 'listTeamKeys', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:37.414+00'),
	('01a220bc-d908-752c-b9f7-6ac46685ebe9', '01a220bc-d8ec-765a-b1ff-27cb437a78e6', 'day', '2026-11-28 00:00:00+00', 'issueTeamKey', false, 2, 0, 0, 0, 0, '2026-11-28 05:59:37.33+00'),
	('01a220bc-d908-752c-b9f7-6ac46685ebe9', '01a220bc-d8ec-765a-b1ff-27cb437a78e6', 'day', '2026-11-28 00:00:00+00', 'listTeamKeys', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:37.414+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'minute', '2026-11-28 05:59:00+00', 'issueKey', false, 20, 0, 0, 0, 0, '2026-11-28 05:59:37.888+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'hour', '2026-11-28 05:00:00+00', 'issueKey', false, 20, 0, 0, 0, 0, '2026-11-28 05:59:37.888+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'day', '2026-11-28 00:00:00+00', 'issueKey', false, 20, 0, 0, 0, 0, '2026-11-28 05:59:37.888+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'minute', '2026-11-28 05:59:00+00', 'createOrder', false, 3, 0, 0, 0, 0, '2026-11-28 05:59:38.241+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'minute', '2026-11-28 05:59:00+00', 'getOwnKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.528+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'minute', '2026-11-28 05:59:00+00', 'createPet', false, 5, 0, 1, 0, 0, '2026-11-28 05:59:38.827+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'minute', '2026-11-28 05:59:00+00', 'getPet', true, 1, 0, 1, 0, 0, '2026-11-28 05:59:38.788+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'day', '2026-11-28 00:00:00+00', 'createWebhook', false, 4, 0, 0, 0, 0, '2026-11-28 06:00:21.153+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'minute', '2026-11-28 05:59:00+00', 'getRateLimit', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.463+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'minute', '2026-11-28 05:59:00+00', 'listOrders', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.432+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'hour', '2026-11-28 05:00:00+00', 'createOrder', false, 3, 0, 0, 0, 0, '2026-11-28 05:59:38.241+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'hour', '2026-11-28 05:00:00+00', 'getOwnKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.528+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'hour', '2026-11-28 05:00:00+00', 'getRateLimit', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.463+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'hour', '2026-11-28 05:00:00+00', 'listOrders', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.432+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'day', '2026-11-28 00:00:00+00', 'createOrder', false, 3, 0, 0, 0, 0, '2026-11-28 05:59:38.241+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'day', '2026-11-28 00:00:00+00', 'getOwnKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.528+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'day', '2026-11-28 00:00:00+00', 'getRateLimit', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.463+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'day', '2026-11-28 00:00:00+00', 'listOrders', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.432+00'),
	('01a220bc-9934-7309-a5b8-bef63f53bde0', '01a220bc-98cb-723c-b0cf-8bfff641a25e', 'minute', '2026-11-28 05:59:00+00', 'createOrder', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.284+00'),
	('01a220bc-9934-7309-a5b8-bef63f53bde0', '01a220bc-98cb-723c-b0cf-8bfff641a25e', 'hour', '2026-11-28 05:00:00+00', 'createOrder', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.284+00'),
	('01a220bc-9934-7309-a5b8-bef63f53bde0', '01a220bc-98cb-723c-b0cf-8bfff641a25e', 'day', '2026-11-28 00:00:00+00', 'createOrder', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.284+00'),
	('01a220bc-d908-752c-b9f7-6ac46685ebe9', '01a220bc-d8ec-765a-b1ff-27cb437a78e6', 'minute', '2026-11-28 05:59:00+00', 'revokeTeamKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:37.625+00'),
	('01a220bc-d908-752c-b9f7-6ac46685ebe9', '01a220bc-d8ec-765a-b1ff-27cb437a78e6', 'hour', '2026-11-28 05:00:00+00', 'revokeTeamKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:37.625+00'),
	('01a220bc-d908-752c-b9f7-6ac46685ebe9', '01a220bc-d8ec-765a-b1ff-27cb437a78e6', 'day', '2026-11-28 00:00:00+00', 'revokeTeamKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:37.625+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'minute', '2026-11-28 05:59:00+00', 'listOwnDeprecatedCalls', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.736+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'minute', '2026-11-28 05:59:00+00', 'listOwnUsage', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.627+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'minute', '2026-11-28 05:59:00+00', 'none', false, 0, 0, 1, 0, 0, '2026-11-28 05:59:38.813+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'hour', '2026-11-28 05:00:00+00', 'createPet', false, 5, 0, 1, 0, 0, '2026-11-28 05:59:38.827+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'hour', '2026-11-28 05:00:00+00', 'getPet', true, 1, 0, 1, 0, 0, '2026-11-28 05:59:38.788+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'hour', '2026-11-28 05:00:00+00', 'listOwnDeprecatedCalls', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.736+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'hour', '2026-11-28 05:00:00+00', 'listOwnUsage', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.627+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'hour', '2026-11-28 05:00:00+00', 'none', false, 0, 0, 1, 0, 0, '2026-11-28 05:59:38.813+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'day', '2026-11-28 00:00:00+00', 'createPet', false, 5, 0, 1, 0, 0, '2026-11-28 05:59:38.827+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'day', '2026-11-28 00:00:00+00', 'getPet', true, 1, 0, 1, 0, 0, '2026-11-28 05:59:38.788+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'day', '2026-11-28 00:00:00+00', 'listOwnDeprecatedCalls', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.736+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'day', '2026-11-28 00:00:00+00', 'listOwnUsage', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.627+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'day', '2026-11-28 00:00:00+00', 'none', false, 0, 0, 1, 0, 0, '2026-11-28 05:59:38.813+00'),
	('01a220bc-9571-76db-aaa5-aaa23b62ffb1', '01a220bc-9536-7172-ae42-1d4971d84c47', 'minute', '2026-11-28 05:59:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.86+00'),
	('01a220bc-9571-76db-aaa5-aaa23b62ffb1', '01a220bc-9536-7172-ae42-1d4971d84c47', 'hour', '2026-11-28 05:00:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.86+00'),
	('01a220bc-9571-76db-aaa5-aaa23b62ffb1', '01a220bc-9536-7172-ae42-1d4971d84c47', 'day', '2026-11-28 00:00:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.86+00'),
	('01a220bc-9745-775d-a0a1-4c80f41ed06c', '01a220bc-9729-75ad-b436-ac1718cccfbe', 'minute', '2026-11-28 05:59:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.882+00'),
	('01a220bc-9745-775d-a0a1-4c80f41ed06c', '01a220bc-9729-75ad-b436-ac1718cccfbe', 'hour', '2026-11-28 05:00:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.882+00'),
	('01a220bc-9745-775d-a0a1-4c80f41ed06c', '01a220bc-9729-75ad-b436-ac1718cccfbe', 'day', '2026-11-28 00:00:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.882+00'),
	('01a220bc-9934-7309-a5b8-bef63f53bde0', '01a220bc-98cb-723c-b0cf-8bfff641a25e', 'minute', '2026-11-28 05:59:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.953+00'),
	('01a220bc-9934-7309-a5b8-bef63f53bde0', '01a220bc-98cb-723c-b0cf-8bfff641a25e', 'hour', '2026-11-28 05:00:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.953+00'),
	('01a220bc-9aa0-741e-899a-6ae89931f575', '01a220bc-9a94-76e6-aeec-f29b958931e3', 'minute', '2026-11-28 05:59:00+00', 'listPets', false, 3, 0, 11, 0, 11, '2026-11-28 05:59:42.42+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'minute', '2026-11-28 05:59:00+00', 'listPets', false, 13, 0, 2, 0, 2, '2026-11-28 05:59:42.738+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'hour', '2026-11-28 05:00:00+00', 'listPets', false, 13, 0, 2, 0, 2, '2026-11-28 05:59:42.738+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'day', '2026-11-28 00:00:00+00', 'listPets', false, 14, 0, 2, 0, 2, '2026-11-28 06:00:21.613+00'),
	('01a220bc-9934-7309-a5b8-bef63f53bde0', '01a220bc-98cb-723c-b0cf-8bfff641a25e', 'day', '2026-11-28 00:00:00+00', 'listPets', false, 2, 0, 0, 0, 0, '2026-11-28 06:00:21.635+00'),
	('01a220bc-9aa0-741e-899a-6ae89931f575', '01a220bc-9a94-76e6-aeec-f29b958931e3', 'hour', '2026-11-28 05:00:00+00', 'listPets', false, 3, 0, 11, 0, 11, '2026-11-28 05:59:42.42+00'),
	('01a220bc-9aa0-741e-899a-6ae89931f575', '01a220bc-9a94-76e6-aeec-f29b958931e3', 'day', '2026-11-28 00:00:00+00', 'listPets', false, 3, 0, 11, 0, 11, '2026-11-28 05:59:42.42+00'),
	('01a220bc-9b4a-7778-b278-36da76d31fff', '01a220bc-9b46-7042-99f7-24ad95a9f4a8', 'minute', '2026-11-28 05:59:00+00', 'listPets', false, 3, 0, 4, 0, 4, '2026-11-28 05:59:40.839+00'),
	('01a220bc-9b4a-7778-b278-36da76d31fff', '01a220bc-9b46-7042-99f7-24ad95a9f4a8', 'hour', '2026-11-28 05:00:00+00', 'listPets', false, 3, 0, 4, 0, 4, '2026-11-28 05:59:40.839+00'),
	('01a220bc-9b4a-7778-b278-36da76d31fff', '01a220bc-9b46-7042-99f7-24ad95a9f4a8', 'day', '2026-11-28 00:00:00+00', 'listPets', false, 3, 0, 4, 0, 4, '2026-11-28 05:59:40.839+00'),
	('01a220bc-9c24-742d-959c-faf351609bdb', '01a220bc-9c21-7190-a14b-f68562fc78a7', 'minute', '2026-11-28 05:59:00+00', 'listPets', false, 2, 0, 7, 0, 7, '2026-11-28 05:59:42.343+00'),
	('01a220bc-9c24-742d-959c-faf351609bdb', '01a220bc-9c21-7190-a14b-f68562fc78a7', 'hour', '2026-11-28 05:00:00+00', 'listPets', false, 2, 0, 7, 0, 7, '2026-11-28 05:59:42.343+00'),
	('01a220bc-9c24-742d-959c-faf351609bdb', '01a220bc-9c21-7190-a14b-f68562fc78a7', 'day', '2026-11-28 00:00:00+00', 'listPets', false, 2, 0, 7, 0, 7, '2026-11-28 05:59:42.343+00'),
	('01a220bc-9db1-7096-8b7d-07c20a2cee2d', '01a220bc-9d9b-7020-bd08-ff4f4f002b2f', 'minute', '2026-11-28 05:59:00+00', 'listPets', false, 8, 0, 0, 0, 0, '2026-11-28 05:59:39.205+00'),
	('01a220bc-9db1-7096-8b7d-07c20a2cee2d', '01a220bc-9d9b-7020-bd08-ff4f4f002b2f', 'hour', '2026-11-28 05:00:00+00', 'listPets', false, 8, 0, 0, 0, 0, '2026-11-28 05:59:39.205+00'),
	('01a220bc-9db1-7096-8b7d-07c20a2cee2d', '01a220bc-9d9b-7020-bd08-ff4f4f002b2f', 'day', '2026-11-28 00:00:00+00', 'listPets', false, 8, 0, 0, 0, 0, '2026-11-28 05:59:39.205+00'),
	('01a220bc-9fe9-75b4-8f26-b184a147cf32', '01a220bc-9fbc-75c9-beb3-3e75643a3b09', 'minute', '2026-11-28 05:59:00+00', 'listPets', false, 5, 0, 0, 0, 0, '2026-11-28 05:59:39.268+00'),
	('01a220bc-9fe9-75b4-8f26-b184a147cf32', '01a220bc-9fbc-75c9-beb3-3e75643a3b09', 'hour', '2026-11-28 05:00:00+00', 'listPets', false, 5, 0, 0, 0, 0, '2026-11-28 05:59:39.268+00'),
	('01a220bc-9fe9-75b4-8f26-b184a147cf32', '01a220bc-9fbc-75c9-beb3-3e75643a3b09', 'day', '2026-11-28 00:00:00+00', 'listPets', false, 5, 0, 0, 0, 0, '2026-11-28 05:59:39.268+00'),
	('01a220bc-a1c5-758e-a0ee-4b81edc904c3', '01a220bc-a181-732b-9ad2-28bd91575fa6', 'minute', '2026-11-28 05:59:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.981+00'),
	('01a220bc-a1c5-758e-a0ee-4b81edc904c3', '01a220bc-a181-732b-9ad2-28bd91575fa6', 'hour', '2026-11-28 05:00:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.981+00'),
	('01a220bc-a1c5-758e-a0ee-4b81edc904c3', '01a220bc-a181-732b-9ad2-28bd91575fa6', 'day', '2026-11-28 00:00:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.981+00'),
	('01a220bc-a31f-713f-8f52-4fbb55200a5a', '01a220bc-a308-778b-97ea-c737493504ea', 'minute', '2026-11-28 05:59:00+00', 'getPet', true, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.774+00'),
	('01a220bc-a31f-713f-8f52-4fbb55200a5a', '01a220bc-a308-778b-97ea-c737493504ea', 'hour', '2026-11-28 05:00:00+00', 'getPet', true, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.774+00'),
	('01a220bc-a31f-713f-8f52-4fbb55200a5a', '01a220bc-a308-778b-97ea-c737493504ea', 'day', '2026-11-28 00:00:00+00', 'getPet', true, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.774+00'),
	('01a220bc-a954-753b-b377-5bb10082ca02', '01a220bc-a308-778b-97ea-c737493504ea', 'minute', '2026-11-28 05:59:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.944+00'),
	('01a220bc-a954-753b-b377-5bb10082ca02', '01a220bc-a308-778b-97ea-c737493504ea', 'hour', '2026-11-28 05:00:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.944+00'),
	('01a220bc-a954-753b-b377-5bb10082ca02', '01a220bc-a308-778b-97ea-c737493504ea', 'day', '2026-11-28 00:00:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.944+00'),
	('01a220bc-aa85-743c-8a9a-a6031c4d39f3', '01a220bc-a365-778a-a7cb-d0d349921ef1', 'minute', '2026-11-28 05:59:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.997+00'),
	('01a220bc-aa85-743c-8a9a-a6031c4d39f3', '01a220bc-a365-778a-a7cb-d0d349921ef1', 'hour', '2026-11-28 05:00:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.997+00'),
	('01a220bc-aa85-743c-8a9a-a6031c4d39f3', '01a220bc-a365-778a-a7cb-d0d349921ef1', 'day', '2026-11-28 00:00:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:38.997+00'),
	('01a220bc-d908-752c-b9f7-6ac46685ebe9', '01a220bc-d8ec-765a-b1ff-27cb437a78e6', 'minute', '2026-11-28 05:59:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:39.01+00'),
	('01a220bc-d908-752c-b9f7-6ac46685ebe9', '01a220bc-d8ec-765a-b1ff-27cb437a78e6', 'hour', '2026-11-28 05:00:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:39.01+00'),
	('01a220bc-d908-752c-b9f7-6ac46685ebe9', '01a220bc-d8ec-765a-b1ff-27cb437a78e6', 'day', '2026-11-28 00:00:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:39.01+00'),
	('01a220bc-da00-779a-95fd-04ebcf933c2d', '01a220bc-d8ec-765a-b1ff-27cb437a78e6', 'minute', '2026-11-28 05:59:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:39.03+00'),
	('01a220bc-da00-779a-95fd-04ebcf933c2d', '01a220bc-d8ec-765a-b1ff-27cb437a78e6', 'hour', '2026-11-28 05:00:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:39.03+00'),
	('01a220bc-da00-779a-95fd-04ebcf933c2d', '01a220bc-d8ec-765a-b1ff-27cb437a78e6', 'day', '2026-11-28 00:00:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:39.03+00'),
	('01a220bc-dcc0-774a-b605-3cb5d5541ff2', '01a220bc-9160-7198-8495-0a344c5a338d', 'minute', '2026-11-28 05:59:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:39.056+00'),
	('01a220bc-dcc0-774a-b605-3cb5d5541ff2', '01a220bc-9160-7198-8495-0a344c5a338d', 'hour', '2026-11-28 05:00:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:39.056+00'),
	('01a220bc-dcc0-774a-b605-3cb5d5541ff2', '01a220bc-9160-7198-8495-0a344c5a338d', 'day', '2026-11-28 00:00:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:39.056+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'minute', '2026-11-28 05:59:00+00', 'getKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:43.263+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'minute', '2026-11-28 05:59:00+00', 'getKeyRateLimit', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:43.453+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'minute', '2026-11-28 05:59:00+00', 'getPlan', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:43.656+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'minute', '2026-11-28 05:59:00+00', 'listPlans', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:43.602+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'hour', '2026-11-28 05:00:00+00', 'getKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:43.263+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'hour', '2026-11-28 05:00:00+00', 'getKeyRateLimit', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:43.453+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'hour', '2026-11-28 05:00:00+00', 'getPlan', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:43.656+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'hour', '2026-11-28 05:00:00+00', 'listPlans', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:43.602+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'day', '2026-11-28 00:00:00+00', 'getKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:43.263+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'day', '2026-11-28 00:00:00+00', 'getKeyRateLimit', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:43.453+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'day', '2026-11-28 00:00:00+00', 'getPlan', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:43.656+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'day', '2026-11-28 00:00:00+00', 'listPlans', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:43.602+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'minute', '2026-11-28 05:59:00+00', 'listAudit', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:44.612+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'minute', '2026-11-28 05:59:00+00', 'listTopKeys', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:44.334+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'minute', '2026-11-28 05:59:00+00', 'listKeys', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:42.921+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'minute', '2026-11-28 05:59:00+00', 'unbanKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:42.744+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'hour', '2026-11-28 05:00:00+00', 'listKeys', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:42.921+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'hour', '2026-11-28 05:00:00+00', 'unbanKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:42.744+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'day', '2026-11-28 00:00:00+00', 'listKeys', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:42.921+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'day', '2026-11-28 00:00:00+00', 'unbanKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:42.744+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'minute', '2026-11-28 05:59:00+00', 'getWhatIf', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:43.972+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'minute', '2026-11-28 05:59:00+00', 'listDeprecatedCalls', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:44.145+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'minute', '2026-11-28 05:59:00+00', 'listUsage', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:43.724+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'minute', '2026-11-28 05:59:00+00', 'listUsageOfKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:43.84+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'hour', '2026-11-28 05:00:00+00', 'getWhatIf', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:43.972+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'hour', '2026-11-28 05:00:00+00', 'listDeprecatedCalls', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:44.145+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'hour', '2026-11-28 05:00:00+00', 'listUsage', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:43.724+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'hour', '2026-11-28 05:00:00+00', 'listUsageOfKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:43.84+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'day', '2026-11-28 00:00:00+00', 'getWhatIf', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:43.972+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'day', '2026-11-28 00:00:00+00', 'listDeprecatedCalls', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:44.145+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'day', '2026-11-28 00:00:00+00', 'listUsageOfKey', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:43.84+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'minute', '2026-11-28 05:59:00+00', 'getHealth', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:45.309+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'minute', '2026-11-28 05:59:00+00', 'listWebhookDeliveries', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:45.123+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'minute', '2026-11-28 05:59:00+00', 'listWebhooks', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:44.931+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'minute', '2026-11-28 05:59:00+00', 'testWebhook', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:46.14+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'minute', '2026-11-28 05:59:00+00', 'updateWebhook', false, 2, 0, 0, 0, 0, '2026-11-28 05:59:46.086+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'hour', '2026-11-28 05:00:00+00', 'getHealth', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:45.309+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'hour', '2026-11-28 05:00:00+00', 'listWebhookDeliveries', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:45.123+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'hour', '2026-11-28 05:00:00+00', 'listWebhooks', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:44.931+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'hour', '2026-11-28 05:00:00+00', 'testWebhook', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:46.14+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'hour', '2026-11-28 05:00:00+00', 'updateWebhook', false, 2, 0, 0, 0, 0, '2026-11-28 05:59:46.086+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'day', '2026-11-28 00:00:00+00', 'getHealth', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:45.309+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'day', '2026-11-28 00:00:00+00', 'listWebhooks', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:44.931+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'day', '2026-11-28 00:00:00+00', 'testWebhook', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:46.14+00'),
	('01a220bc-a3ce-705d-85fc-624198f58470', '01a220bc-a3b4-76c3-bf8b-9a30327c2dbb', 'minute', '2026-11-28 05:59:00+00', 'listKeys', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:45.357+00'),
	('01a220bc-a3ce-705d-85fc-624198f58470', '01a220bc-a3b4-76c3-bf8b-9a30327c2dbb', 'hour', '2026-11-28 05:00:00+00', 'listKeys', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:45.357+00'),
	('01a220bc-a3ce-705d-85fc-624198f58470', '01a220bc-a3b4-76c3-bf8b-9a30327c2dbb', 'day', '2026-11-28 00:00:00+00', 'listKeys', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:45.357+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'day', '2026-11-28 00:00:00+00', 'listWebhookDeliveries', false, 3, 0, 0, 0, 0, '2026-11-28 06:00:21.086+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'day', '2026-11-28 00:00:00+00', 'listUsage', false, 2, 0, 0, 0, 0, '2026-11-28 06:00:21.5+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'day', '2026-11-28 00:00:00+00', 'updateWebhook', false, 3, 0, 0, 0, 0, '2026-11-28 06:00:21.433+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'minute', '2026-11-28 05:59:00+00', 'listUsageByOperation', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:44.464+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'minute', '2026-11-28 05:59:00+00', 'listUsageTotals', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:44.27+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'minute', '2026-11-28 05:59:00+00', 'suggestScopes', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:44.508+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'hour', '2026-11-28 05:00:00+00', 'listAudit', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:44.612+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'hour', '2026-11-28 05:00:00+00', 'listTopKeys', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:44.334+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'hour', '2026-11-28 05:00:00+00', 'listUsageByOperation', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:44.464+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'hour', '2026-11-28 05:00:00+00', 'listUsageTotals', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:44.27+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'hour', '2026-11-28 05:00:00+00', 'suggestScopes', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:44.508+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'day', '2026-11-28 00:00:00+00', 'listAudit', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:44.612+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'day', '2026-11-28 00:00:00+00', 'listTopKeys', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:44.334+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'day', '2026-11-28 00:00:00+00', 'listUsageByOperation', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:44.464+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'day', '2026-11-28 00:00:00+00', 'listUsageTotals', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:44.27+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'day', '2026-11-28 00:00:00+00', 'suggestScopes', false, 1, 0, 0, 0, 0, '2026-11-28 05:59:44.508+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'minute', '2026-11-28 06:00:00+00', 'listWebhookDeliveries', false, 2, 0, 0, 0, 0, '2026-11-28 06:00:21.086+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'minute', '2026-11-28 06:00:00+00', 'resendWebhookDelivery', false, 1, 0, 0, 0, 0, '2026-11-28 06:00:19.392+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'hour', '2026-11-28 06:00:00+00', 'listWebhookDeliveries', false, 2, 0, 0, 0, 0, '2026-11-28 06:00:21.086+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'hour', '2026-11-28 06:00:00+00', 'resendWebhookDelivery', false, 1, 0, 0, 0, 0, '2026-11-28 06:00:19.392+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'day', '2026-11-28 00:00:00+00', 'resendWebhookDelivery', false, 1, 0, 0, 0, 0, '2026-11-28 06:00:19.392+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'day', '2026-11-27 00:00:00+00', 'createOrder', false, 3, 0, 0, 0, 0, '2026-11-27 05:59:38.241+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'day', '2026-11-27 00:00:00+00', 'getOwnKey', false, 1, 0, 0, 0, 0, '2026-11-27 05:59:38.528+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'day', '2026-11-27 00:00:00+00', 'getRateLimit', false, 1, 0, 0, 0, 0, '2026-11-27 05:59:38.463+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'day', '2026-11-27 00:00:00+00', 'listOrders', false, 1, 0, 0, 0, 0, '2026-11-27 05:59:38.432+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'day', '2026-11-27 00:00:00+00', 'createPet', false, 5, 0, 1, 0, 0, '2026-11-27 05:59:38.827+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'day', '2026-11-27 00:00:00+00', 'getPet', true, 1, 0, 1, 0, 0, '2026-11-27 05:59:38.788+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'day', '2026-11-27 00:00:00+00', 'listOwnDeprecatedCalls', false, 1, 0, 0, 0, 0, '2026-11-27 05:59:38.736+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'day', '2026-11-27 00:00:00+00', 'listOwnUsage', false, 1, 0, 0, 0, 0, '2026-11-27 05:59:38.627+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'day', '2026-11-27 00:00:00+00', 'none', false, 0, 0, 1, 0, 0, '2026-11-27 05:59:38.813+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'day', '2026-11-27 00:00:00+00', 'listPets', false, 13, 0, 2, 0, 2, '2026-11-27 05:59:42.738+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'day', '2026-11-26 00:00:00+00', 'createOrder', false, 3, 0, 0, 0, 0, '2026-11-26 05:59:38.241+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'day', '2026-11-26 00:00:00+00', 'getOwnKey', false, 1, 0, 0, 0, 0, '2026-11-26 05:59:38.528+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'day', '2026-11-26 00:00:00+00', 'getRateLimit', false, 1, 0, 0, 0, 0, '2026-11-26 05:59:38.463+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'day', '2026-11-26 00:00:00+00', 'listOrders', false, 1, 0, 0, 0, 0, '2026-11-26 05:59:38.432+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'day', '2026-11-26 00:00:00+00', 'createPet', false, 5, 0, 1, 0, 0, '2026-11-26 05:59:38.827+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'day', '2026-11-26 00:00:00+00', 'getPet', true, 1, 0, 1, 0, 0, '2026-11-26 05:59:38.788+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'day', '2026-11-26 00:00:00+00', 'listOwnDeprecatedCalls', false, 1, 0, 0, 0, 0, '2026-11-26 05:59:38.736+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'day', '2026-11-26 00:00:00+00', 'listOwnUsage', false, 1, 0, 0, 0, 0, '2026-11-26 05:59:38.627+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'day', '2026-11-26 00:00:00+00', 'none', false, 0, 0, 1, 0, 0, '2026-11-26 05:59:38.813+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'day', '2026-11-26 00:00:00+00', 'listPets', false, 13, 0, 2, 0, 2, '2026-11-26 05:59:42.738+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'minute', '2026-11-28 06:00:00+00', 'createWebhook', false, 1, 0, 0, 0, 0, '2026-11-28 06:00:21.153+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'minute', '2026-11-28 06:00:00+00', 'listUsage', false, 1, 0, 0, 0, 0, '2026-11-28 06:00:21.5+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'minute', '2026-11-28 06:00:00+00', 'updateWebhook', false, 1, 0, 0, 0, 0, '2026-11-28 06:00:21.433+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'hour', '2026-11-28 06:00:00+00', 'createWebhook', false, 1, 0, 0, 0, 0, '2026-11-28 06:00:21.153+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'hour', '2026-11-28 06:00:00+00', 'listUsage', false, 1, 0, 0, 0, 0, '2026-11-28 06:00:21.5+00'),
	('01a220bc-6dfe-728a-99b5-5beb13eb964e', '01a220bc-6d9a-7166-ac56-3a23c5eac256', 'hour', '2026-11-28 06:00:00+00', 'updateWebhook', false, 1, 0, 0, 0, 0, '2026-11-28 06:00:21.433+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'minute', '2026-11-28 06:00:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 06:00:21.613+00'),
	('01a220bc-9216-7743-aa68-5973f7b8e3ed', '01a220bc-9160-7198-8495-0a344c5a338d', 'hour', '2026-11-28 06:00:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 06:00:21.613+00'),
	('01a220bc-9934-7309-a5b8-bef63f53bde0', '01a220bc-98cb-723c-b0cf-8bfff641a25e', 'minute', '2026-11-28 06:00:00+00', 'getPet', true, 1, 0, 0, 0, 0, '2026-11-28 06:00:21.641+00'),
	('01a220bc-9934-7309-a5b8-bef63f53bde0', '01a220bc-98cb-723c-b0cf-8bfff641a25e', 'minute', '2026-11-28 06:00:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 06:00:21.635+00'),
	('01a220bc-9934-7309-a5b8-bef63f53bde0', '01a220bc-98cb-723c-b0cf-8bfff641a25e', 'hour', '2026-11-28 06:00:00+00', 'getPet', true, 1, 0, 0, 0, 0, '2026-11-28 06:00:21.641+00'),
	('01a220bc-9934-7309-a5b8-bef63f53bde0', '01a220bc-98cb-723c-b0cf-8bfff641a25e', 'hour', '2026-11-28 06:00:00+00', 'listPets', false, 1, 0, 0, 0, 0, '2026-11-28 06:00:21.635+00'),
	('01a220bc-9934-7309-a5b8-bef63f53bde0', '01a220bc-98cb-723c-b0cf-8bfff641a25e', 'day', '2026-11-28 00:00:00+00', 'getPet', true, 1, 0, 0, 0, 0, '2026-11-28 06:00:21.641+00');

INSERT INTO public.usage_batches VALUES
	('c4a8e2c0-8315-43dc-ae37-d56b62017bb1', '2026-11-28 05:59:16.744+00', 0, '[]'),
	('a19773da-57f3-432d-8ded-b76a6a77a143', '2026-11-28 05:59:17.264+00', 0, '[]'),
	('d7f49010-4b80-4190-8af9-c523774eb395', '2026-11-28 05:59:17.877+00', 0, '[]'),
	('45ce784a-73e9-4c07-b27e-713bc3bb7010', '2026-11-28 05:59:18.457+00', 0, '[]'),
	('54d5dd35-b6f3-43db-847f-8c2608d83bcc', '2026-11-28 05:59:19.53+00', 0, '[]'),
	('bb083e32-15be-4ec7-aeb0-10e5367c38fe', '2026-11-28 05:59:20.03+00', 0, '[]'),
	('9b2a0f65-479d-4739-98e6-3b5c7313d703', '2026-11-28 05:59:20.63+00', 0, '[]'),
	('9ad68245-1b0e-4c8d-be4b-f0bf7cf30d05', '2026-11-28 05:59:21.091+00', 0, '[]'),
	('14e01402-6472-4407-89aa-17e5df306594', '2026-11-28 05:59:21.716+00', 0, '[]'),
	('975911ae-8556-4754-b81f-105811f5076d', '2026-11-28 05:59:22.203+00', 0, '[]'),
	('67ea7f7e-572b-450d-af52-be7534c2a7be', '2026-11-28 05:59:38.131+00', 0, '[]'),
	('46c0b6ca-80be-440e-9e54-af564e5b89f1', '2026-11-28 05:59:38.652+00', 0, '[]'),
	('d7a7cfdc-9f11-44cf-a10b-1814e119b6e3', '2026-11-28 05:59:39.64+00', 0, '[]'),
	('b349b8c8-06fb-41e5-bb53-b3d938277042', '2026-11-28 05:59:41.138+00', 0, '[]'),
	('90eb786f-6c03-4b29-a463-249674f6f8c1', '2026-11-28 05:59:42.644+00', 0, '[]'),
	('695bc0b9-8ef9-4960-a52f-dbf2aad8efb6', '2026-11-28 05:59:46.016+00', 0, '[]'),
	('ee300ab4-8378-412b-a412-641fd7d8729d', '2026-11-28 05:59:22.695+00', 0, '[]'),
	('b75156b5-b0f5-407b-b0fe-acd5f516ec4d', '2026-11-28 05:59:23.204+00', 0, '[]'),
	('fef39674-3034-4d3c-90fe-3c89731102a9', '2026-11-28 05:59:23.784+00', 0, '[]'),
	('191a19db-3a6b-4897-b973-430e9dcd7e3a', '2026-11-28 05:59:24.278+00', 0, '[]'),
	('9c436a15-0b3d-4ab7-b565-72297bdbda03', '2026-11-28 05:59:24.779+00', 0, '[]'),
	('d95a6dbb-53e6-4307-8332-d9c888e41865', '2026-11-28 05:59:25.368+00', 0, '[]'),
	('68996a09-512b-4d61-9bdf-3af4618f45b3', '2026-11-28 05:59:25.863+00', 0, '[]'),
	('296eac4a-e049-4dee-bb27-eab4017a238d', '2026-11-28 05:59:26.364+00', 0, '[]'),
	('19d052c9-8f3f-471e-83ae-034837baeec5', '2026-11-28 05:59:30.395+00', 0, '[]'),
	('b0a41872-4a12-4e81-80cc-cc43f337f32f', '2026-11-28 05:59:37.085+00', 0, '[]'),
	('77f1e4d1-5e32-4522-b70f-d3e3db78f25e', '2026-11-28 05:59:39.137+00', 0, '[]'),
	('7d0ff9ba-e379-44d6-91ce-c08e8ef3ed87', '2026-11-28 05:59:37.625+00', 0, '[]'),
	('5bcb8a5d-1651-43d6-a1d4-98f8a298aba4', '2026-11-28 05:59:43.262+00', 0, '[]'),
	('2d4a58cc-178f-4361-8be8-f0a19be3ec1d', '2026-11-28 05:59:43.77+00', 0, '[]'),
	('2d7693e8-18e6-446d-83b8-cb885aa24356', '2026-11-28 05:59:44.272+00', 0, '[]'),
	('617c943b-9915-4f01-b18d-823599e6e3af', '2026-11-28 05:59:44.929+00', 0, '[]'),
	('3ae8e3dd-012a-4b7a-b9f7-4c8161f3acc9', '2026-11-28 05:59:45.428+00', 0, '[]'),
	('2abb755b-c151-4708-9583-40e84f1f3fd0', '2026-11-28 05:59:46.51+00', 0, '[]'),
	('08223d65-c56d-4c41-a3c5-a46e79b37467', '2026-11-28 06:00:19.643+00', 0, '[]'),
	('a5320f73-dabb-451a-abc5-cd073732fe6d', '2026-11-28 06:00:21.173+00', 0, '[]'),
	('6db0d4b6-94e5-4b21-b666-b1cdf3596b66', '2026-11-28 06:00:21.66+00', 0, '[]'),
	('b892072a-cd2e-4e41-9156-740f690517b8', '2026-11-28 06:00:22.161+00', 8, '[{"keyId":"01a220bc-d908-752c-b9f7-6ac46685ebe9","quotaId":"01a220bc-d8ec-765a-b1ff-27cb437a78e6","minute":29930760,"operation":"listTeamKeys","deprecated":false,"succeeded":1,"redirected":0,"clientErrors":0,"serverErrors":0,"refusals":0,"lastAtMs":1795845621682},{"keyId":"01a220bc-9216-7743-aa68-5973f7b8e3ed","quotaId":"01a220bc-9160-7198-8495-0a344c5a338d","minute":29930760,"operation":"getOwnKey","deprecated":false,"succeeded":2,"redirected":0,"clientErrors":0,"serverErrors":0,"refusals":0,"lastAtMs":1795845621828},{"keyId":"01a220bc-6dfe-728a-99b5-5beb13eb964e","quotaId":"01a220bc-6d9a-7166-ac56-3a23c5eac256","minute":29930760,"operation":"listTopKeys","deprecated":false,"succeeded":1,"redirected":0,"clientErrors":0,"serverErrors":0,"refusals":0,"lastAtMs":1795845621796},{"keyId":"01a220bc-6dfe-728a-99b5-5beb13eb964e","quotaId":"01a220bc-6d9a-7166-ac56-3a23c5eac256","minute":29930760,"operation":"changePlan","deprecated":false,"succeeded":1,"redirected":0,"clientErrors":0,"serverErrors":0,"refusals":0,"lastAtMs":1795845621849},{"keyId":"01a220bc-9216-7743-aa68-5973f7b8e3ed","quotaId":"01a220bc-9160-7198-8495-0a344c5a338d","minute":29930760,"operation":"listPets","deprecated":false,"succeeded":2,"redirected":0,"clientErrors":0,"serverErrors":0,"refusals":0,"lastAtMs":1795845621948},{"keyId":"01a220bc-9216-7743-aa68-5973f7b8e3ed","quotaId":"01a220bc-9160-7198-8495-0a344c5a338d","minute":29930760,"operation":"listOrders","deprecated":false,"succeeded":2,"redirected":0,"clientErrors":0,"serverErrors":0,"refusals":0,"lastAtMs":1795845621971},{"keyId":"01a220bc-6dfe-728a-99b5-5beb13eb964e","quotaId":"01a220bc-6d9a-7166-ac56-3a23c5eac256","minute":29930760,"operation":"listKeys","deprecated":false,"succeeded":2,"redirected":0,"clientErrors":0,"serverErrors":0,"refusals":0,"lastAtMs":1795845622023},{"keyId":"01a220bc-6dfe-728a-99b5-5beb13eb964e","quotaId":"01a220bc-6d9a-7166-ac56-3a23c5eac256","minute":29930760,"operation":"listAudit","deprecated":false,"succeeded":2,"redirected":0,"clientErrors":0,"serverErrors":0,"refusals":0,"lastAtMs":1795845622123}]'),
	('1047dacf-b2fe-4c2d-aaad-7129ad05d849', '2026-11-28 06:00:22.662+00', 2, '[{"keyId":"01a220bc-6dfe-728a-99b5-5beb13eb964e","quotaId":"01a220bc-6d9a-7166-ac56-3a23c5eac256","minute":29930760,"operation":"listWebhookDeliveries","deprecated":false,"succeeded":2,"redirected":0,"clientErrors":0,"serverErrors":0,"refusals":0,"lastAtMs":1795845622165},{"keyId":"01a220bc-a0bb-77cc-84ec-f1cde5f4a4ae","quotaId":"01a220bc-a0a7-75ba-b70f-fd4c1224df58","minute":29930760,"operation":"listPets","deprecated":false,"succeeded":3,"redirected":0,"clientErrors":1,"serverErrors":0,"refusals":1,"lastAtMs":1795845622213}]');

INSERT INTO public.webhook_deliveries VALUES
	('01a220bc-aac5-78aa-af46-d3669c9113ac', '01a220bc-876b-710d-9307-036b8629a8a0', 'key.rotated', 'key.rotated:01a220bc-a369-7393-87e2-a18211b0aed5', '{"type":"key.rotated","timestamp":"2026-11-28T05:59:25.125Z","data":{"keyId":"01a220bc-a369-7393-87e2-a18211b0aed5","name":"rotated by its holder","quotaId":"01a220bc-a365-778a-a7cb-d0d349921ef1","expiresAt":"2026-12-28T05:59:24.971Z","successorId":"01a220bc-aa85-743c-8a9a-a6031c4d39f3"}}', 'delivered', 1, '2026-11-28 05:59:25.125+00', '2026-11-28 05:59:25.363+00', NULL, 200, 'thanks', NULL),
	('01a220bc-a96f-7d6d-bbd7-e296bdf9066e', '01a220bc-876b-710d-9307-036b8629a8a0', 'key.rotated', 'key.rotated:01a220bc-a31f-713f-8f52-4fbb55200a5a', '{"type":"key.rotated","timestamp":"2026-11-28T05:59:24.783Z","data":{"keyId":"01a220bc-a31f-713f-8f52-4fbb55200a5a","name":"rotating","quotaId":"01a220bc-a308-778b-97ea-c737493504ea","expiresAt":"2026-12-28T05:59:24.654Z","successorId":"01a220bc-a954-753b-b377-5bb10082ca02"}}', 'delivered', 1, '2026-11-28 05:59:24.783+00', '2026-11-28 05:59:25.363+00', NULL, 200, 'thanks', NULL),
	('01a220bc-ac93-7a14-b160-c9632cf0d650', '01a220bc-876b-710d-9307-036b8629a8a0', 'key.revoked', 'key.revoked:01a220bc-a284-7597-aea2-d654fc345412', '{"type":"key.revoked","timestamp":"2026-11-28T05:59:25.587Z","data":{"keyId":"01a220bc-a284-7597-aea2-d654fc345412","name":"revoked","quotaId":"01a220bc-a27f-73fd-b46d-a4ae083d9601","revokedAt":"2026-11-28T05:59:25.485Z"}}', 'delivered', 1, '2026-11-28 05:59:25.587+00', '2026-11-28 05:59:25.872+00', NULL, 200, 'thanks', NULL),
	('01a220bc-ae58-7f16-9cc9-b7b1d2bc359c', '01a220bc-876b-710d-9307-036b8629a8a0', 'key.revoked', 'key.revoked:01a220bc-a2c0-72ba-88c4-903083f7e0df', '{"type":"key.revoked","timestamp":"2026-11-28T05:59:26.040Z","data":{"keyId":"01a220bc-a2c0-72ba-88c4-903083f7e0df","name":"leaked","quotaId":"01a220bc-a2bc-71eb-a0e3-b7893cb2f9f1","revokedAt":"2026-11-28T05:59:26.002Z"}}', 'delivered', 1, '2026-11-28 05:59:26.04+00', '2026-11-28 05:59:26.363+00', NULL, 200, 'thanks', NULL),
	('01a220bc-dbec-7b43-a763-c39a12b3631d', '01a220bc-876b-710d-9307-036b8629a8a0', 'key.revoked', 'key.revoked:01a220bc-daa7-7089-9822-4ced99532267', '{"type":"key.revoked","timestamp":"2026-11-28T05:59:37.708Z","data":{"keyId":"01a220bc-daa7-7089-9822-4ced99532267","name":"issued and revoked","quotaId":"01a220bc-d8ec-765a-b1ff-27cb437a78e6","revokedAt":"2026-11-28T05:59:37.688Z"}}', 'delivered', 1, '2026-11-28 05:59:37.708+00', '2026-11-28 05:59:38.128+00', NULL, 200, 'thanks', NULL),
	('01a220bc-ae58-7644-b336-1c596eabd624', '01a220bc-8ad5-7224-86d9-ba610c91bdef', 'key.revoked', 'key.revoked:01a220bc-a2c0-72ba-88c4-903083f7e0df', '{"type":"key.revoked","timestamp":"2026-11-28T05:59:26.040Z","data":{"keyId":"01a220bc-a2c0-72ba-88c4-903083f7e0df","name":"leaked","quotaId":"01a220bc-a2bc-71eb-a0e3-b7893cb2f9f1","revokedAt":"2026-11-28T05:59:26.002Z"}}', 'pending', 2, '2026-11-28 05:59:26.04+00', '2026-11-28 05:59:39.138+00', 'The response was 500', 500, 'out of order', '2026-11-28 06:00:28.886+00'),
	('01a220bc-f847-7adc-8b89-914d0dd54804', '01a220bc-876b-710d-9307-036b8629a8a0', 'key.expiring', 'key.expiring:01a220bc-a1c5-758e-a0ee-4b81edc904c3:1796277562.692000', '{"type":"key.expiring","timestamp":"2026-11-28T05:59:44.967Z","data":{"name":"expiring","keyId":"01a220bc-a1c5-758e-a0ee-4b81edc904c3","quotaId":"01a220bc-a181-732b-9ad2-28bd91575fa6","expiresAt":"2026-12-03T05:59:22.692Z"}}', 'delivered', 1, '2026-11-28 05:59:44.967+00', '2026-11-28 05:59:45.401+00', NULL, 200, 'thanks', NULL),
	('01a220bc-f847-75f0-b42f-cb853551fb63', '01a220bc-876b-710d-9307-036b8629a8a0', 'quota.banned', 'quota.banned:quota:01a220bc-9a94-76e6-aeec-f29b958931e3:2026-11-28T17:59:42.402Z', '{"type":"quota.banned","timestamp":"2026-11-28T05:59:44.967Z","data":{"name":"banned","plan":"free","keyId":"01a220bc-9aa0-741e-899a-6ae89931f575","quotaId":"01a220bc-9a94-76e6-aeec-f29b958931e3","bannedUntil":"2026-11-28T17:59:42.402Z"}}', 'delivered', 1, '2026-11-28 05:59:44.967+00', '2026-11-28 05:59:45.401+00', NULL, 200, 'thanks', NULL),
	('01a220bc-f847-735f-8f3f-cfd5ced5b3dd', '01a220bc-876b-710d-9307-036b8629a8a0', 'quota.day_limit_80', 'quota.day_limit_80:quota:01a220bc-9d9b-7020-bd08-ff4f4f002b2f:20785', '{"type":"quota.day_limit_80","timestamp":"2026-11-28T05:59:44.967Z","data":{"name":"near day limit","plan":"business","used":8,"keyId":"01a220bc-9db1-7096-8b7d-07c20a2cee2d","limit":10,"quotaId":"01a220bc-9d9b-7020-bd08-ff4f4f002b2f"}}', 'delivered', 1, '2026-11-28 05:59:44.967+00', '2026-11-28 05:59:45.401+00', NULL, 200, 'thanks', NULL),
	('01a220bc-dbec-75e8-8c53-170f1249958b', '01a220bc-8ad5-7224-86d9-ba610c91bdef', 'key.revoked', 'key.revoked:01a220bc-daa7-7089-9822-4ced99532267', '{"type":"key.revoked","timestamp":"2026-11-28T05:59:37.708Z","data":{"keyId":"01a220bc-daa7-7089-9822-4ced99532267","name":"issued and revoked","quotaId":"01a220bc-d8ec-765a-b1ff-27cb437a78e6","revokedAt":"2026-11-28T05:59:37.688Z"}}', 'pending', 2, '2026-11-28 05:59:37.708+00', '2026-11-28 05:59:53.042+00', 'The response was 500', 500, 'out of order', '2026-11-28 06:00:52.724+00'),
	('01a220bc-ac93-7fd9-a27a-82cf61918ece', '01a220bc-8ad5-7224-86d9-ba610c91bdef', 'key.revoked', 'key.revoked:01a220bc-a284-7597-aea2-d654fc345412', '{"type":"key.revoked","timestamp":"2026-11-28T05:59:25.587Z","data":{"keyId":"01a220bc-a284-7597-aea2-d654fc345412","name":"revoked","quotaId":"01a220bc-a27f-73fd-b46d-a4ae083d9601","revokedAt":"2026-11-28T05:59:25.485Z"}}', 'failed', 11, '2026-11-28 05:59:25.587+00', '2026-11-28 05:59:40.641+00', 'The response was 500', 500, 'out of order', NULL),
	('01a220bc-f847-736d-a068-30577edbf433', '01a220bc-8ad5-7224-86d9-ba610c91bdef', 'quota.day_limit_80', 'quota.day_limit_80:quota:01a220bc-9d9b-7020-bd08-ff4f4f002b2f:20785', '{"type":"quota.day_limit_80","timestamp":"2026-11-28T05:59:44.967Z","data":{"name":"near day limit","plan":"business","used":8,"keyId":"01a220bc-9db1-7096-8b7d-07c20a2cee2d","limit":10,"quotaId":"01a220bc-9d9b-7020-bd08-ff4f4f002b2f"}}', 'pending', 2, '2026-11-28 05:59:44.967+00', '2026-11-28 06:00:00.062+00', 'The response was 500', 500, 'out of order', '2026-11-28 06:00:56.477+00'),
	('01a220bc-f847-737c-83ff-4bb5ed391bd6', '01a220bc-876b-710d-9307-036b8629a8a0', 'quota.day_limit_80', 'quota.day_limit_80:quota:01a220bc-9fbc-75c9-beb3-3e75643a3b09:20785', '{"type":"quota.day_limit_80","timestamp":"2026-11-28T05:59:44.967Z","data":{"name":"at day limit","plan":"business","used":5,"keyId":"01a220bc-9fe9-75b4-8f26-b184a147cf32","limit":5,"quotaId":"01a220bc-9fbc-75c9-beb3-3e75643a3b09"}}', 'delivered', 1, '2026-11-28 05:59:44.967+00', '2026-11-28 05:59:45.401+00', NULL, 200, 'thanks', NULL),
	('01a220bc-f847-7ae0-9ec1-5b34e068347e', '01a220bc-876b-710d-9307-036b8629a8a0', 'quota.day_limit_reached', 'quota.day_limit_reached:quota:01a220bc-9fbc-75c9-beb3-3e75643a3b09:20785', '{"type":"quota.day_limit_reached","timestamp":"2026-11-28T05:59:44.967Z","data":{"name":"at day limit","plan":"business","used":5,"keyId":"01a220bc-9fe9-75b4-8f26-b184a147cf32","limit":5,"quotaId":"01a220bc-9fbc-75c9-beb3-3e75643a3b09"}}', 'delivered', 1, '2026-11-28 05:59:44.967+00', '2026-11-28 05:59:45.401+00', NULL, 200, 'thanks', NULL),
	('01a220bc-f847-7b8a-bc81-8a5dc14a6e76', '01a220bc-8ad5-7224-86d9-ba610c91bdef', 'quota.day_limit_80', 'quota.day_limit_80:quota:01a220bc-9fbc-75c9-beb3-3e75643a3b09:20785', '{"type":"quota.day_limit_80","timestamp":"2026-11-28T05:59:44.967Z","data":{"name":"at day limit","plan":"business","used":5,"keyId":"01a220bc-9fe9-75b4-8f26-b184a147cf32","limit":5,"quotaId":"01a220bc-9fbc-75c9-beb3-3e75643a3b09"}}', 'pending', 2, '2026-11-28 05:59:44.967+00', '2026-11-28 05:59:58.052+00', 'The response was 500', 500, 'out of order', '2026-11-28 06:00:46.989+00'),
	('01a220bc-fcfb-7c31-85ce-6f096660c7dc', '01a220bc-876b-710d-9307-036b8629a8a0', 'webhook.test', 'webhook.test:e332a0ac-5a46-4f2c-84fc-867ae93c2f01', '{"type":"webhook.test","timestamp":"2026-11-28T05:59:46.171Z","data":{"webhookId":"01a220bc-876b-710d-9307-036b8629a8a0"}}', 'delivered', 1, '2026-11-28 05:59:46.171+00', '2026-11-28 06:00:19.642+00', NULL, 200, 'thanks', NULL),
	('01a220bc-fcfb-7c31-85ce-6f097f2eba27', '01a220bc-876b-710d-9307-036b8629a8a0', 'operation.deprecated_called', 'operation.deprecated_called:getPet:01a220bc-9216-7743-aa68-5973f7b8e3ed:20785', '{"type":"operation.deprecated_called","timestamp":"2026-11-28T05:30:00.000Z","data":{"operation":"getPet","removedAt":"2030-12-05T00:00:00.000Z","keyId":"01a220bc-9216-7743-aa68-5973f7b8e3ed","name":"client","quotaId":"01a220bc-9160-7198-8495-0a344c5a338d"}}', 'delivered', 1, '2026-11-28 06:00:22.179+00', '2026-11-28 06:00:22.179+00', NULL, NULL, NULL, NULL);

INSERT INTO public.webhooks VALUES
	('01a220bc-8ad5-7224-86d9-ba610c91bdef', 'http://127.0.0.1:18090/down', '{key.revoked,operation.deprecated_called,quota.day_limit_80}', false, 'whsec_ut5TDXorMUlCG7SnvsvHYWoKjD2KAowqtubS6gswspE=', NULL, NULL, '2026-11-28 05:59:16.984+00'),
	('01a220bc-876b-710d-9307-036b8629a8a0', 'http://127.0.0.1:18090/ok?2', '{quota.day_limit_80,quota.day_limit_reached,quota.banned,key.expiring,key.rotated,key.revoked,operation.deprecated_called}', false, 'whsec_BS8PmksJFbmxcv/8gx4GGhpMr3QHTQ34bc7wEgiHrh4=', 'whsec_YaZDHAcCxYqeF4nzntXxy4pQFmPWAzUkGzyOGVgBB98=', '2026-11-29 05:59:17.575+00', '2026-11-28 05:59:16.076+00'),
	('01a220bd-85c9-70cd-a84e-7c0d08381df7', 'http://127.0.0.1:18090/paused', '{key.rotated,quota.day_limit_80}', true, 'whsec_FDMtp0DaIet5jOSe0rAd7AmhkvahfDhukKf742Pcd8U=', NULL, NULL, '2026-11-28 06:00:21.193+00');

SELECT pg_catalog.setval('public.audit_events_id_seq', 47, true);

SELECT pg_catalog.setval('public.orders_id_seq', 4, true);

SELECT pg_catalog.setval('public.pets_id_seq', 5, true);

ALTER TABLE ONLY public._prisma_migrations
    ADD CONSTRAINT _prisma_migrations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.audit_events
    ADD CONSTRAINT audit_events_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_pkey PRIMARY KEY (quota_id, id);

ALTER TABLE ONLY public.pets
    ADD CONSTRAINT pets_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.plans
    ADD CONSTRAINT plans_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.quotas
    ADD CONSTRAINT quotas_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.rate_limit_counters
    ADD CONSTRAINT rate_limit_counters_pkey PRIMARY KEY (bucket_key);

ALTER TABLE ONLY public.stored_responses
    ADD CONSTRAINT stored_responses_pkey PRIMARY KEY (quota_id, key);

ALTER TABLE ONLY public.usage_batches
    ADD CONSTRAINT usage_batches_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.usage
    ADD CONSTRAINT usage_pkey PRIMARY KEY (key_id, period, starts_at, operation, deprecated);

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_pkey PRIMARY KEY (id);

CREATE UNIQUE INDEX api_keys_hash_key ON public.api_keys USING btree (hash);

CREATE INDEX api_keys_issued_by_idx ON public.api_keys USING btree (issued_by);

CREATE UNIQUE INDEX api_keys_predecessor_id_key ON public.api_keys USING btree (predecessor_id);

CREATE INDEX api_keys_quota_id_idx ON public.api_keys USING btree (quota_id);

CREATE UNIQUE INDEX orders_id_key ON public.orders USING btree (id) WHERE (quantity >= 1);

CREATE INDEX orders_pet_id_idx ON public.orders USING btree (pet_id);

CREATE INDEX orders_quota_id_status_id_idx ON public.orders USING btree (quota_id, status, id);

CREATE INDEX pets_status_id_idx ON public.pets USING btree (status, id);

CREATE INDEX quotas_plan_idx ON public.quotas USING btree (plan);

CREATE INDEX rate_limit_counters_banned_until_idx ON public.rate_limit_counters USING btree (banned_until) WHERE (banned_until IS NOT NULL);

CREATE INDEX stored_responses_stored_at_idx ON public.stored_responses USING btree (stored_at);

CREATE INDEX usage_deprecated_idx ON public.usage USING btree (operation, key_id) WHERE (deprecated AND (period = 'day'::public.usage_period));

CREATE INDEX usage_period_starts_at_key_id_operation_deprecated_idx ON public.usage USING btree (period, starts_at DESC, key_id, operation, deprecated);

CREATE INDEX webhook_deliveries_created_at_idx ON public.webhook_deliveries USING btree (created_at);

CREATE INDEX webhook_deliveries_due_idx ON public.webhook_deliveries USING btree (webhook_id, next_attempt_at) WHERE (state = 'pending'::public.webhook_delivery_state);

CREATE UNIQUE INDEX webhook_deliveries_event_key_webhook_id_key ON public.webhook_deliveries USING btree (event_key, webhook_id);

CREATE INDEX webhook_deliveries_webhook_id_id_idx ON public.webhook_deliveries USING btree (webhook_id, id DESC);

CREATE TRIGGER api_keys_notify AFTER DELETE OR UPDATE OR TRUNCATE ON public.api_keys FOR EACH STATEMENT EXECUTE FUNCTION public.notify_key_change();

CREATE TRIGGER audit_events_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.audit_events FOR EACH STATEMENT EXECUTE FUNCTION public.reject_audit_change();

ALTER TABLE public.audit_events ENABLE ALWAYS TRIGGER audit_events_append_only;

CREATE TRIGGER plans_notify AFTER DELETE OR UPDATE OR TRUNCATE ON public.plans FOR EACH STATEMENT EXECUTE FUNCTION public.notify_key_change();

CREATE TRIGGER quotas_notify AFTER DELETE OR UPDATE OR TRUNCATE ON public.quotas FOR EACH STATEMENT EXECUTE FUNCTION public.notify_key_change();

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_issued_by_fkey FOREIGN KEY (issued_by) REFERENCES public.api_keys(id) ON UPDATE CASCADE ON DELETE SET NULL;

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_predecessor_id_fkey FOREIGN KEY (predecessor_id) REFERENCES public.api_keys(id) ON UPDATE CASCADE ON DELETE SET NULL;

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_quota_id_fkey FOREIGN KEY (quota_id) REFERENCES public.quotas(id) ON UPDATE CASCADE ON DELETE RESTRICT;

ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_pet_id_fkey FOREIGN KEY (pet_id) REFERENCES public.pets(id) ON UPDATE CASCADE ON DELETE RESTRICT;

ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_quota_id_fkey FOREIGN KEY (quota_id) REFERENCES public.quotas(id) ON UPDATE CASCADE ON DELETE RESTRICT;

ALTER TABLE ONLY public.quotas
    ADD CONSTRAINT quotas_plan_fkey FOREIGN KEY (plan) REFERENCES public.plans(name) ON UPDATE CASCADE ON DELETE RESTRICT;

ALTER TABLE ONLY public.stored_responses
    ADD CONSTRAINT stored_responses_quota_id_fkey FOREIGN KEY (quota_id) REFERENCES public.quotas(id) ON UPDATE CASCADE ON DELETE CASCADE;

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES public.webhooks(id) ON UPDATE CASCADE ON DELETE CASCADE;
