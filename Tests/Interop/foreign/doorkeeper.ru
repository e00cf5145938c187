# frozen_string_literal: true

# Rails with Doorkeeper and doorkeeper-openid_connect, from Debian's packages: one file, as `puma doorkeeper.ru` starts it.
# The environment names the file with what it is given (REGISTERED), as registered.py describes it.

require 'json'
require 'openssl'
require 'ostruct'
require 'rails'
require 'active_record/railtie'
require 'action_controller/railtie'
require 'action_view/railtie'
require 'doorkeeper'
require 'doorkeeper/openid_connect'

GIVEN = OpenStruct.new(JSON.parse(File.read(ENV.fetch('REGISTERED'))))
FOLDER = GIVEN.folder
VIEWS = File.join(FOLDER, 'views')
ENV['DATABASE_URL'] = "sqlite3:#{FOLDER}/site.sqlite?pool=10&timeout=10000"

# The consent passes on the nonce, as its documentation asks: the stock page loses it.
FileUtils.mkdir_p(File.join(VIEWS, 'doorkeeper', 'authorizations'))
File.write(File.join(VIEWS, 'doorkeeper', 'authorizations', 'new.html.erb'), <<~ERB)
  <h1>Authorize <%= @pre_auth.client.name %>?</h1>
  <% { post: 'Authorize', delete: 'Deny' }.each do |method, label| %>
    <%= form_tag oauth_authorization_path, method: method do %>
      <% %w[redirect_uri state response_type scope nonce code_challenge code_challenge_method].each do |name| %>
        <%= hidden_field_tag name, @pre_auth.public_send(name), id: nil %>
      <% end %>
      <%= hidden_field_tag :client_id, @pre_auth.client.uid, id: nil %>
      <%= submit_tag label %>
    <% end %>
  <% end %>
ERB

class Site < Rails::Application
  config.root = FOLDER
  config.eager_load = true
  config.load_defaults 6.1
  config.secret_key_base = GIVEN.client_secret * 2
  config.hosts << 'localhost'
  config.logger = Logger.new($stdout, level: Logger::WARN)
  config.paths['app/views'] = [VIEWS]
  config.active_record.migration_error = false
end

class User < ActiveRecord::Base
end

Doorkeeper.configure do
  orm :active_record
  resource_owner_authenticator do
    session[:return_to] = request.fullpath
    User.find_by(id: session[:user]) || redirect_to('/sign-in') && nil
  end
  default_scopes :openid
  optional_scopes :profile, :email
  use_refresh_token
  force_ssl_in_redirect_uri false
end

Doorkeeper::OpenidConnect.configure do
  issuer GIVEN.base
  protocol { :http }
  signing_key OpenSSL::PKey::RSA.new(2048).to_pem
  subject { |owner, _application| owner.id }
  resource_owner_from_access_token { |token| User.find_by(id: token.resource_owner_id) }
  auth_time_from_resource_owner { |_owner| nil }
  reauthenticate_resource_owner { |_owner, return_to| session[:return_to] = return_to and redirect_to('/sign-in') }
  select_account_for_resource_owner { |_owner, return_to| session[:return_to] = return_to and redirect_to('/sign-in') }
  claims do
    claim(:name, response: %i[id_token user_info]) { |owner| owner.name }
    claim(:preferred_username, response: %i[id_token user_info]) { |owner| owner.username }
    claim(:email, response: %i[id_token user_info]) { |owner| owner.email }
  end
end

class SessionsController < ActionController::Base
  FORM = <<~ERB
    <h1>Sign in</h1>
    <%= form_tag '/sign-in' do %>
      <%= text_field_tag :username %><%= password_field_tag :password %><%= submit_tag 'Sign in' %>
    <% end %>
  ERB

  def new
    render inline: FORM
  end

  def create
    user = User.find_by(username: params[:username], password: params[:password])
    return render(inline: FORM, status: :unauthorized) unless user

    session[:user] = user.id
    redirect_to session.delete(:return_to)
  end
end

Site.initialize!
Site.routes.draw do
  use_doorkeeper
  use_doorkeeper_openid_connect
  get '/sign-in', to: 'sessions#new'
  post '/sign-in', to: 'sessions#create'
end

ActiveRecord::Schema.verbose = false
# The tables are those of the generators of both.
ActiveRecord::Schema.define do
  create_table :users do |t|
    t.string :username, :password, :name, :email, null: false
  end
  create_table :oauth_applications do |t|
    t.string :name, :uid, :secret, null: false
    t.text :redirect_uri, null: false
    t.string :scopes, null: false, default: ''
    t.boolean :confidential, null: false, default: true
    t.timestamps null: false
  end
  create_table :oauth_access_grants do |t|
    t.references :resource_owner, :application, null: false
    t.string :token, null: false, index: { unique: true }
    t.integer :expires_in, null: false
    t.text :redirect_uri, null: false
    t.datetime :created_at, null: false
    t.datetime :revoked_at
    t.string :scopes, null: false, default: ''
    t.string :code_challenge, :code_challenge_method
  end
  create_table :oauth_access_tokens do |t|
    t.references :resource_owner
    t.references :application, null: false
    t.string :token, null: false, index: { unique: true }
    t.string :refresh_token, index: { unique: true }
    t.integer :expires_in
    t.datetime :revoked_at
    t.datetime :created_at, null: false
    t.string :scopes
    t.string :previous_refresh_token, null: false, default: ''
  end
  create_table :oauth_openid_requests do |t|
    t.references :access_grant, null: false
    t.string :nonce, null: false
  end
end

User.create!(GIVEN.to_h.slice(:username, :password, :name, :email))
Doorkeeper::Application.create!(
  name: 'Companion', uid: GIVEN.client_id, secret: GIVEN.client_secret, redirect_uri: GIVEN.redirect_uri, scopes: 'openid profile email'
)
run Site
